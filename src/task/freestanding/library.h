// SPDX-License-Identifier: BSD-3-Clause
// library.h - how the files of a task's libraries are mapped. Freestanding (redirect.h).
#pragma once

#include "arch/arch.h"
#include "task/space.h"

namespace nagaya::task {

// Has `file` known system-call sites within `bytes` from `file_offset`?
bool has_sites(const RedirectedFile& file, uint64_t file_offset, uint64_t bytes);

// Lays the pages of the changed copy that begin at `file_offset` over `address`.
bool lay_changed_copy(const RedirectedFile& file, uint64_t address, uint64_t bytes,
                      uint64_t file_offset);

// Rewrites the sites of `file` that lie in the fresh private mapping [address, address + bytes) of
// the file from `file_offset`. The mapping must be readable and writable; it gets `prot`, whole:
// page by page would split it into mappings that never merge again. Returns false when the system
// refuses `prot` for changed text (SELinux execmod).
bool redirect_sites(const SpaceHeader& space, const RedirectedFile& file, uint64_t address,
                    uint64_t bytes, uint64_t file_offset, int prot);

// mmap: what ld.so maps is recognised, all else goes to map() of mapping.h.
long map_possible_library(TaskRecord& task, const arch::SyscallFrame& call);

// mprotect, as only ld.so calls it. What it makes read-only is RELRO: the relocated tables of a
// library. Left writable, every library is one mapping less against vm.max_map_count, and no
// processor is interrupted; a stray store into such a table goes unnoticed (docs/decisions/0006).
long protect_library(TaskRecord& task, const arch::SyscallFrame& call);

}  // namespace nagaya::task
