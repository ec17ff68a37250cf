// SPDX-License-Identifier: BSD-3-Clause
// other_process.h - what the host asks /proc of a follower (wire.h).
#pragma once

#include <sys/types.h>

#include <string>

namespace nagaya::task {

// Returns the parent of a process, 0 if it is not known.
pid_t parent_of(pid_t pid);

// Returns the difference between this process and another one that a task cloned by this one would
// not have: of namespaces, root folder, user, groups, capabilities, filters of system calls; or
// that a debugger follows the other one. For example "it has another root folder than its job"; ""
// if there is none.
std::string difference_from_this_process(pid_t pid);

}  // namespace nagaya::task
