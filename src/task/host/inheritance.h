// SPDX-License-Identifier: BSD-3-Clause
// inheritance.h - all that a task which runs in the stead of this process takes over from it.
#pragma once

#include <vector>

#include "task/load/freestanding/start.h"

namespace nagaya::task {

Inheritance inherit_from_this_process();

// All descriptors of this process that are not close-on-exec, ascending. Throws Error.
std::vector<int> inheritable_descriptors();

}  // namespace nagaya::task
