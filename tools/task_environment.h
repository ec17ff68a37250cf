// SPDX-License-Identifier: BSD-3-Clause
// task_environment.h - the environment that tasks get.
#pragma once

#include <string>
#include <vector>

namespace nagaya::tools {

// Returns the environment of this process, with the settings of libraries added
// (task/load/upper_settings.h). With NAGAYA_BLACS=on, it loads our BLACS before those that the
// program is linked with. Throws Error.
std::vector<std::string> environment_of_task();

}  // namespace nagaya::tools
