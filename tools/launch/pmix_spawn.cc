// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix_spawn.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.h"
#include "launch/spawn_info.h"

namespace nagaya::tools {
namespace {

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

Application application_of(const pmix_app_t& app) {
  if (app.cmd == nullptr || *app.cmd == '\0') throw base::Error(-EINVAL, "no program is named");
  Application application;
  application.command = copied(app.argv);
  if (application.command.empty()) application.command.resize(1);
  application.command[0] = app.cmd;
  application.count = static_cast<uint32_t>(std::max(app.maxprocs, 0));
  require_this_host(text_of(app, PMIX_HOST));
  application.directory = text_of(app, PMIX_WDIR);
  if (application.directory.empty() && app.cwd != nullptr) application.directory = app.cwd;
  application.environment = copied(app.env);
  return application;
}

}  // namespace

std::vector<Application> applications_of(const pmix_app_t* apps, size_t count) {
  std::vector<Application> applications;
  for (size_t n = 0; n < count; ++n) applications.push_back(application_of(apps[n]));
  require_sound_counts(applications);
  return applications;
}

}  // namespace nagaya::tools
