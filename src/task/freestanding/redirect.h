// SPDX-License-Identifier: BSD-3-Clause
// redirect.h - what mmap, munmap, mremap, shmat and readlink of a task become: its mappings are
// placed in its partition, another task's partition is out of reach, and /proc/self/exe names its
// own program.
//
// Freestanding: this code runs on a task's thread, inside its system call, with the task's stack
// and thread pointer. No libc, no TLS, no vector registers, no exception.
#pragma once

#include "task/space.h"

namespace nagaya::task {

// The space of this host; set once, before the first task. nullptr in every other process.
extern SpaceHeader* redirect_space;

// Has `file` known system-call sites within `bytes` from `file_offset`?
bool has_sites(const RedirectedFile& file, uint64_t file_offset, uint64_t bytes);

// Rewrites the sites of `file` that lie in the fresh private mapping [address, address + bytes) of
// the file from `file_offset`. The mapping must be readable and writable; it gets `prot`, whole:
// page by page would split it into mappings that never merge again. Returns false when the system
// refuses `prot` for changed text (SELinux execmod).
bool redirect_sites(const SpaceHeader& space, const RedirectedFile& file, uint64_t address,
                    uint64_t bytes, uint64_t file_offset, int prot);

}  // namespace nagaya::task
