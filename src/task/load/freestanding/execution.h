// SPDX-License-Identifier: BSD-3-Clause
// execution.h - execve in a task that stands for a rank: an execve leaves the space, because the
// kernel gives the process an address space of its own. So the call executes nagaya-execute
// (tools/execution), which starts the program as a new task where that is wanted, and else executes
// it. Freestanding (redirect.h).
#pragma once

#include "arch/arch.h"
#include "task/space/space.h"

namespace nagaya::task {

// Carries out `call`, an execve of a task or of its forked child. Fails where the kernel's execve
// fails: a search in PATH, and a shell that tries a file as a script, need the error.
//
// A child by vfork or posix_spawn has its parent's memory, and a stack of 32 KiB: this function
// writes nothing but its own stack, 20 KiB of it.
long execute_for_rank(const TaskRecord& task, const arch::SyscallFrame& call);

}  // namespace nagaya::task
