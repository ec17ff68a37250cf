// SPDX-License-Identifier: BSD-3-Clause
// misuse.h - the checks of a request before it is accepted, so that a mistake is answered where it
// was made.
#pragma once

#include <cerrno>
#include <cstdint>

#include "nagaya/llcl.h"
#include "task/space/space.h"

namespace nagaya::llcl {

inline bool is_aligned(const void* address, size_t bytes) {
  return reinterpret_cast<uintptr_t>(address) % bytes == 0;
}

inline bool is_valid(const nagaya_completion& on_complete) {
  switch (on_complete.kind) {
    case NAGAYA_NONE:
      return true;
    case NAGAYA_FLAG:
      return on_complete.data != nullptr && is_aligned(on_complete.data, sizeof(uint32_t));
    case NAGAYA_COUNTER:
      return on_complete.data != nullptr && is_aligned(on_complete.data, sizeof(uint64_t));
    case NAGAYA_CALLBACK:
      return on_complete.function != nullptr;
    default:
      return false;
  }
}

// Checks memory of the caller that the delegatee will access in the caller's stead. Reads its first
// and last byte, so that a bad pointer faults here, as in a copy by the caller, and not in the
// delegatee, which serves all tasks. Returns 0 or -EINVAL (more than there can be).
inline int check_local(const task::SpaceHeader& space, const void* local, uint64_t bytes) {
  if (bytes == 0) return 0;
  const auto first = reinterpret_cast<uint64_t>(local);
  const task::Part part = task::part_of(space, first);
  if (first + bytes < first || (part.number >= 0 && first + bytes > part.end)) return -EINVAL;
  const auto* const all = static_cast<const volatile unsigned char*>(local);
  static_cast<void>(all[0]);
  static_cast<void>(all[bytes - 1]);
  return 0;
}

// Checks the process of `place`. Returns 0 or -EINVAL (there cannot be such a process).
inline int check_place(const nagaya_remote& place) {
  return place.process.task > UINT16_MAX ? -EINVAL : 0;
}

}  // namespace nagaya::llcl
