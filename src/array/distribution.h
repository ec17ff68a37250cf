// SPDX-License-Identifier: BSD-3-Clause
// distribution.h - which coordinate has which indexes, and where: the contracts are those of the
// functions in nagaya/array.h.
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

bool is_valid(const nagaya_distribution& of);

int64_t count_below(const nagaya_distribution& of, uint32_t coordinate, int64_t index);
uint32_t coordinate_of(const nagaya_distribution& of, int64_t index);
int64_t index_at(const nagaya_distribution& of, uint32_t coordinate, int64_t place);
Interval run_at(const nagaya_distribution& of, uint32_t coordinate, int64_t place);

inline int64_t count_of(const nagaya_distribution& of, uint32_t coordinate) {
  return count_below(of, coordinate, of.high + 1);
}
inline int64_t place_of(const nagaya_distribution& of, int64_t index) {
  return count_below(of, coordinate_of(of, index), index);
}

bool has_index_in(const nagaya_distribution& of, uint32_t coordinate, int64_t low, int64_t high,
                  int64_t step);
nagaya_rounds rounds_of_loop(const nagaya_distribution& of, uint32_t coordinate, int64_t first,
                             int64_t last, int64_t step);
void clip_loop(Interval interval, int64_t step, int64_t& first, int64_t& end);

}  // namespace nagaya::array
