// SPDX-License-Identifier: BSD-3-Clause
// library.h - how the files of a task's program and libraries are mapped. Freestanding
// (redirect.h).
#pragma once

#include "arch/arch.h"
#include "task/space/space.h"

namespace nagaya::task {

// The entry of a file in the table of files whose system-call sites are known; nullptr: none.
const RedirectedFile* find_file(const SpaceHeader& space, uint64_t device, uint64_t inode,
                                uint64_t mtime_ns);

// Carries out `call`, an mmap of a file. The sites in the mapped text of `file` are
// rewritten, where the system allows that. nullptr: a file without known sites.
long map_file(TaskRecord& task, const RedirectedFile* file, const arch::SyscallFrame& call);

// mmap: a mapping of ld.so's is recognised, all else goes to map() of mapping.h.
long map_possible_library(TaskRecord& task, const arch::SyscallFrame& call);

// mprotect, as only ld.so calls it. It makes RELRO read-only: the relocated tables of a
// library. Left writable, every library is one mapping less against vm.max_map_count, and no
// processor is interrupted; a stray store into such a table goes unnoticed (docs/decisions/0006).
long protect_library(TaskRecord& task, const arch::SyscallFrame& call);

}  // namespace nagaya::task
