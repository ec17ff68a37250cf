// SPDX-License-Identifier: BSD-3-Clause
#include "launch/spawn_info.h"

#include <unistd.h>

#include <array>
#include <sstream>

#include "base/error.h"

namespace nagaya::tools {
namespace {

using base::Error;

constexpr uint64_t kMaxRanks = 65535;  // PMIx counts the ranks of a node in 16 bits

}  // namespace

void require_sound_counts(const std::vector<Application>& applications) {
  uint64_t ranks = 0;
  for (const Application& application : applications) {
    if (application.count == 0)
      throw Error(-EINVAL, application.command[0] + ": no ranks to start");
    ranks += application.count;
  }
  if (ranks == 0) throw Error(-EINVAL, "no program is named");
  if (ranks > kMaxRanks) throw Error(-EINVAL, "cannot start " + std::to_string(ranks) + " ranks");
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

std::string program_in(const std::string& folders, const std::string& name) {
  std::istringstream rest(folders);
  for (std::string folder; std::getline(rest, folder, ':');) {
    const std::string path = folder + "/" + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return name;
}

}  // namespace nagaya::tools
