// SPDX-License-Identifier: BSD-3-Clause
// task_environment.h - the environment that tasks get.
#pragma once

#include <string>
#include <vector>

namespace nagaya::tools {

// This process's, with the settings of libraries (task/load/upper_settings.h); with
// NAGAYA_BLACS=on, our BLACS are loaded before those that the program is linked with. Throws Error.
std::vector<std::string> environment_of_task();

}  // namespace nagaya::tools
