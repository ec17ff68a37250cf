// SPDX-License-Identifier: BSD-3-Clause
#include "task_environment.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "base/plain_path.h"
#include "task/load/program.h"
#include "task/load/upper_settings.h"

#include <nagaya/task.h>

namespace nagaya::tools {

std::vector<std::string> environment_of_task() {
  std::vector<std::string> environment = task::own_environment();
  task::add_upper_settings(environment);
  const char* const wish = std::getenv("NAGAYA_BLACS");
  if (wish == nullptr || std::string_view(wish) == "off") return environment;
  if (std::string_view(wish) != "on")
    throw base::Error(-EINVAL, std::string("NAGAYA_BLACS=") + wish + " is not on or off");
  Dl_info libnagaya;
  if (::dladdr(reinterpret_cast<void*>(&nagaya_task_self), &libnagaya) == 0)
    base::throw_errno("NAGAYA_BLACS: libnagaya", ENOENT);
  const std::filesystem::path folder =
      std::filesystem::canonical(libnagaya.dli_fname).parent_path();
  const std::filesystem::path library = folder / "libnagaya-blacs.so.0";
  if (!std::filesystem::exists(library))
    throw base::Error(-ENOENT, "NAGAYA_BLACS=on: " + library.string() +
                                   " is missing; install Nagaya where ScaLAPACK is installed");
  // ld.so splits the value at blanks and colons, and ignores a library that it does not find.
  std::string preload = "LD_PRELOAD=" + base::PathLinks::own().plain_path(library);
  const auto is_preload = [](const std::string& variable) {
    return variable.starts_with("LD_PRELOAD=");
  };
  const auto old = std::find_if(environment.begin(), environment.end(), is_preload);
  if (old != environment.end()) {
    preload += ":" + old->substr(preload.find('=') + 1);
    environment.erase(old);
  }
  environment.push_back(preload);
  return environment;
}

}  // namespace nagaya::tools
