// SPDX-License-Identifier: BSD-3-Clause
// bytes.h - the copy of one run of bytes between buffers whose places nobody chose: those of
// programs.
//
// memcpy(3) of glibc 2.36 moves a long run by one instruction, `rep movsb`. An AMD EPYC (family 25,
// model 1: Zen 3) carries it out 10 to 25 times slower if the target lies a few bytes further on in
// its page than the source in its own: 16 KiB 5.4 to 10.4 us, else 0.44 (measured November 2026).
// Only the two places in the pages count, not the distance of the buffers. Others report the same
// of Zen 3 (lunnova.dev, "Ryzen slow short rep mov").
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nagaya::layout {

inline constexpr size_t kStringMoveMinBytes = 2048;  // shorter ones glibc moves by vectors

// Returns whether the copy of a long run by `rep movsb` is slow.
inline bool is_slow_by_string_move(const void* to, const void* from) {
  constexpr uintptr_t kPageBytes = 4096, kSlowMost = 63;  // slow were 1 to 16, not 32
  const uintptr_t further =
      (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % kPageBytes;
  return further - 1 < kSlowMost;  // 0 - 1 is not
}

// Copies a long run: past the caches if it does not fit into them, by vectors if `rep movsb` would
// be slow.
void copy_long(void* to, const void* from, size_t bytes);

// Copies `bytes` from `from` to `to`. The two may overlap. With 0 bytes, either may be null.
inline void copy_bytes(void* to, const void* from, size_t bytes) {
  if (bytes >= kStringMoveMinBytes)
    copy_long(to, from, bytes);
  else if (bytes != 0)
    std::memmove(to, from, bytes);
}

}  // namespace nagaya::layout
