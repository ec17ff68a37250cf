// SPDX-License-Identifier: BSD-3-Clause
// distribution.h - which coordinate has which indexes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "nagaya/array.h"

namespace nagaya::array {

using Interval = nagaya_interval;

inline bool is_empty(Interval interval) {
  return interval.low > interval.high;
}
inline int64_t length_of(Interval interval) {
  return is_empty(interval) ? 0 : interval.high - interval.low + 1;
}
inline Interval intersection(Interval a, Interval b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

inline Interval interval_of(const nagaya_distribution& of, uint32_t coordinate) {
  const int64_t low = of.low + int64_t{coordinate} * of.width;
  return {low, std::min(low + of.width - 1, of.high)};
}

inline uint32_t coordinate_of(const nagaya_distribution& of, int64_t index) {
  return static_cast<uint32_t>((index - of.low) / of.width);
}

// low + width * coordinates must not overflow either, so that nothing that is computed here does.
inline bool is_valid(const nagaya_distribution& of) {
  int64_t indexes, room, end;
  return !__builtin_sub_overflow(of.high, of.low, &indexes) &&
         !__builtin_add_overflow(indexes, 1, &indexes) &&
         !__builtin_mul_overflow(of.width, of.coordinates, &room) &&
         !__builtin_add_overflow(of.low, room, &end) && indexes >= 0 && of.width >= 1 &&
         of.coordinates >= 1 && room >= indexes;
}

// The contract is that of nagaya_interval_clip_loop().
void clip_loop(Interval interval, int64_t step, int64_t& first, int64_t& end);

}  // namespace nagaya::array
