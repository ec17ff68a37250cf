// SPDX-License-Identifier: BSD-3-Clause
// inheritance.h - collects the state of this process that the task in its stead inherits.
#pragma once

#include <vector>

#include "task/load/freestanding/start.h"

namespace nagaya::task {

Inheritance inherit_from_this_process();

// Returns all descriptors of this process that are not close-on-exec, ascending. Throws Error.
std::vector<int> inheritable_descriptors();

}  // namespace nagaya::task
