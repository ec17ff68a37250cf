// SPDX-License-Identifier: BSD-3-Clause
// library.h - maps the files of a task's program and libraries. Freestanding (redirect.h).
#pragma once

#include "arch/arch.h"
#include "task/space/space.h"

namespace nagaya::task {

// Returns the entry of a file in the table of files with known system-call sites; nullptr: none.
const RedirectedFile* find_file(const SpaceHeader& space, uint64_t device, uint64_t inode,
                                uint64_t mtime_ns);

// Carries out `call`, an mmap of a file. Rewrites the sites in the mapped text of `file`, where the
// system allows that. `file` is nullptr for a file without known sites.
long map_file(TaskRecord& task, const RedirectedFile* file, const arch::SyscallFrame& call);

// Carries out an mmap. Recognises ld.so's mappings of libraries; passes all others to map() of
// mapping.h.
long map_possible_library(TaskRecord& task, const arch::SyscallFrame& call);

// Carries out an mprotect of ld.so, except that it leaves RELRO (a library's relocated tables)
// writable: that saves one mapping per library of vm.max_map_count and interrupts no processor. The
// price: a stray store into such a table goes unnoticed (docs/decisions/0006).
long protect_library(TaskRecord& task, const arch::SyscallFrame& call);

}  // namespace nagaya::task
