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

// Rewrites the known system-call sites of `file` that lie in the fresh private mapping
// [address, address + bytes) of the file from `file_offset`; `prot` is the mapping's protection.
// Returns false when the text may not be changed (SELinux execmod, MDWE).
bool redirect_sites(const SpaceHeader& space, const RedirectedFile& file, uint64_t address,
                    uint64_t bytes, uint64_t file_offset, int prot);

}  // namespace nagaya::task
