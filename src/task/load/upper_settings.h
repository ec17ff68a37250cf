// SPDX-License-Identifier: BSD-3-Clause
// upper_settings.h - settings of libraries that this floor does not know: faces/openmpi
// (environment.cc) defines the function.
#pragma once

#include <string>
#include <vector>

namespace nagaya::task {

// Adds the settings to the environment of a task. A second call adds nothing. Throws Error when a
// variable in it asks for something that does not exist.
void add_upper_settings(std::vector<std::string>& environment);

}  // namespace nagaya::task
