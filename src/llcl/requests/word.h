// SPDX-License-Identifier: BSD-3-Clause
// word.h - 64-bit words by which processes show each other their progress. The words only grow, and
// may wrap: of two values one is ahead, by less than 2^63.
//
//   0 ... least - 1 | least ... least + 2^63 - 1 | ... 2^64 - 1
//      not reached  |          reached           |  not reached
#pragma once

#include <cstdint>

namespace nagaya::llcl {

// Returns whether `word` is at `least` or ahead of it.
inline bool has_reached(uint64_t word, uint64_t least) {
  return static_cast<int64_t>(word - least) >= 0;
}

}  // namespace nagaya::llcl
