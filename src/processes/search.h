// SPDX-License-Identifier: BSD-3-Clause
// search.h - binary search without branches that depend on the data: random look-ups would
// mispredict every other one.
#pragma once

#include <cstdint>

namespace nagaya::processes {

// Returns the last n below `count` with key(n) <= value, 0 when there is none. The keys ascend.
template <class Key>
uint32_t last_at_or_below(uint32_t count, uint32_t value, Key key) {
  uint32_t at = 0;
  for (uint32_t left = count; left > 1;) {
    const uint32_t half = left / 2;
    at += half & (0 - static_cast<uint32_t>(key(at + half) <= value));
    left -= half;
  }
  return at;
}

}  // namespace nagaya::processes
