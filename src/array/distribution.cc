// SPDX-License-Identifier: BSD-3-Clause
#include "array/distribution.h"

namespace nagaya::array {
namespace {

int64_t rounded_up(int64_t distance, int64_t step) {
  return (distance + step - 1) / step * step;
}

}  // namespace

void clip_loop(Interval interval, int64_t step, int64_t& first, int64_t& end) {
  const bool is_up = step > 0;
  if (is_up) {
    if (first < interval.low) first += rounded_up(interval.low - first, step);
    end = std::min(end, interval.high + 1);
  } else {
    if (first > interval.high) first -= rounded_up(first - interval.high, -step);
    end = std::max(end, interval.low - 1);
  }
  if (is_empty(interval) || (is_up ? first >= end : first <= end)) end = first;
}

}  // namespace nagaya::array
