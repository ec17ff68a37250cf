// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix_spawn.h"

#include <unistd.h>

#include <array>
#include <cstring>
#include <sstream>
#include <string>

#include "base/error.h"

namespace nagaya::tools {
namespace {

using base::Error;

constexpr size_t kMostRanks = 65535;  // PMIx counts the ranks of a node in 16 bits

std::vector<std::string> copied(char* const* texts) {
  std::vector<std::string> copies;
  for (; texts != nullptr && *texts != nullptr; ++texts) copies.emplace_back(*texts);
  return copies;
}

// Returns the text of the first item with this key, "" for none.
std::string text_of(const pmix_app_t& app, const char* key) {
  for (size_t n = 0; n < app.ninfo; ++n) {
    const pmix_info_t& item = app.info[n];
    if (std::strncmp(item.key, key, PMIX_MAX_KEYLEN) == 0 && item.value.type == PMIX_STRING &&
        item.value.data.string != nullptr)
      return item.value.data.string;
  }
  return "";
}

void require_this_host(const std::string& hosts) {
  std::array<char, 256> own{};
  ::gethostname(own.data(), own.size() - 1);
  std::istringstream names(hosts);
  for (std::string name; std::getline(names, name, ',');) {
    name = name.substr(0, name.find(':'));
    if (name != "localhost" && name != own.data())
      throw Error(-ENOTSUP, "cannot start ranks on " + name + ": the job runs on one host");
  }
}

Application application_of(const pmix_app_t& app) {
  Application application;
  application.command = copied(app.argv);
  if (app.cmd == nullptr || *app.cmd == '\0') throw Error(-EINVAL, "no program is named");
  if (application.command.empty()) application.command.resize(1);
  application.command[0] = app.cmd;
  if (app.maxprocs < 1) throw Error(-EINVAL, application.command[0] + ": no ranks to start");
  application.count = static_cast<uint32_t>(app.maxprocs);
  require_this_host(text_of(app, PMIX_HOST));
  application.directory = text_of(app, PMIX_WDIR);
  if (application.directory.empty() && app.cwd != nullptr) application.directory = app.cwd;
  application.environment = copied(app.env);
  return application;
}

}  // namespace

std::vector<Application> applications_of(const pmix_app_t* apps, size_t count) {
  std::vector<Application> applications;
  size_t ranks = 0;
  for (size_t n = 0; n < count; ++n) {
    applications.push_back(application_of(apps[n]));
    ranks += applications.back().count;
    if (ranks > kMostRanks) throw Error(-EINVAL, "too many ranks to start");
  }
  if (applications.empty()) throw Error(-EINVAL, "no program is named");
  return applications;
}

}  // namespace nagaya::tools
