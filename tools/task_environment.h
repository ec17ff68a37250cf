// SPDX-License-Identifier: BSD-3-Clause
// task_environment.h - the environment that tasks get.
#pragma once

#include <string>
#include <vector>

namespace nagaya::tools {

// Sets a variable in an environment; `variable` is NAME=VALUE.
void set_variable(std::vector<std::string>& environment, const std::string& variable);

// Makes the environment of an ordinary process that of a task: adds the settings of libraries
// (task/load/upper_settings.h). With NAGAYA_BLACS=on in it, our BLACS are loaded before those that
// the program is linked with. Throws Error.
void make_environment_of_task(std::vector<std::string>& environment);

// Returns such an environment, made from that of this process.
std::vector<std::string> environment_of_task();

}  // namespace nagaya::tools
