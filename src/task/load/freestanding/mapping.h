// SPDX-License-Identifier: BSD-3-Clause
// mapping.h - the mapping calls of a task, carried out in its partition. Each takes the call as the
// task made it and returns the system call's result. Freestanding (redirect.h).
#pragma once

#include "arch/arch.h"
#include "task/space/space.h"

namespace nagaya::task {

// Passes the call to the kernel unchanged.
long pass_to_kernel(const arch::SyscallFrame& call);

long map(TaskRecord& task, const arch::SyscallFrame& call);
long unmap(TaskRecord& task, const arch::SyscallFrame& call);
long remap(TaskRecord& task, const arch::SyscallFrame& call);
long attach_segment(TaskRecord& task, const arch::SyscallFrame& call);
long detach_segment(TaskRecord& task, const arch::SyscallFrame& call);

// Carries out mprotect, madvise, mlock and similar calls unchanged; returns -EPERM if the addresses
// touch another task's partition.
long change_if_not_foreign(const TaskRecord& task, const arch::SyscallFrame& call);

}  // namespace nagaya::task
