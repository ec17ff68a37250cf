// SPDX-License-Identifier: BSD-3-Clause
// misuse.h - what is looked at before a request is accepted, so that a mistake is answered where it
// was made.
#pragma once

#include "llcl/command.h"
#include "nagaya/llcl.h"
#include "task/space.h"

namespace nagaya::llcl {

inline bool is_aligned(const void* address, size_t bytes) {
  return reinterpret_cast<uintptr_t>(address) % bytes == 0;
}

bool is_valid(const nagaya_completion& on_complete);

// Memory of the caller that the delegatee will use in its stead, and where it would fault for all:
// a pointer that leads nowhere faults here, as in a copy by the caller. Returns 0 or -EINVAL (more
// than there can be).
int check_local(const task::SpaceHeader& space, const void* local, uint64_t bytes);

// Names the process and the place in `command`. Returns 0 or -EINVAL (there cannot be such a
// process).
int set_place(Command* command, const nagaya_remote& place);

}  // namespace nagaya::llcl
