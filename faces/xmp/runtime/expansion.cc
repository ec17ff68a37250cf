// SPDX-License-Identifier: BSD-3-Clause
// expansion.cc - the clauses expand, margin and peel_and_wait of the directive loop.
//
//   iterations of the whole loop   . . . . . . . . . . .
//   of the caller                          0 1 2 3              numbered from its first one
//   expand(1)                           -1 0 1 2 3 4            margin(1): -1 and 4
//   expand(-1)                               1 2                margin(-1): 0 and 3
#include <algorithm>

#include "faces/xmp/runtime/translated.h"

namespace nagaya::xmp {
namespace {

struct Numbers {
  long begin, end;
};

Numbers own_numbers(const nagaya_xmp_expanded& loop) {
  return {0, loop.own_count};
}

Numbers expanded_numbers(const nagaya_xmp_expanded& loop) {
  return {loop.begin, loop.end};
}

Numbers intersection(Numbers a, Numbers b) {
  const long begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

// Returns the numbers of `a` below (`is_high`: above) those of b.
Numbers beside(Numbers a, Numbers b, bool is_high) {
  return is_high ? intersection(a, {b.end, a.end}) : intersection(a, {a.begin, b.begin});
}

// Returns the largest number that is not above a / b. b is positive.
long floor_of_quotient(long a, long b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

long number_of_iterations(long first, long end, long step) {
  return step > 0 ? std::max(0l, (end - first + step - 1) / step)
                  : std::max(0l, (first - end - step - 1) / -step);
}

}  // namespace
}  // namespace nagaya::xmp

nagaya_xmp_expanded nagaya_xmp_expand(const char* where, const nagaya_xmp_on* on, int dimension,
                                      long offset, long first, long end, long step,
                                      const nagaya_xmp_expansion* expansion) {
  using namespace nagaya::xmp;
  const nagaya_xmp_range own = nagaya_xmp_loop(where, on, dimension, offset, first, end, step);
  const long count = number_of_iterations(own.first, own.end, step);
  if (count == 0) return {own.first, step, 0, 0, 0};
  const long before = step > 0 ? expansion->low : expansion->high;
  const long behind = step > 0 ? expansion->high : expansion->low;
  const long stride = step > 0 ? step : -step;
  Numbers numbers{-floor_of_quotient(before, stride), count + floor_of_quotient(behind, stride)};
  if (expansion->unbound == 0) {
    const long begin = (first - own.first) / step;
    numbers = intersection(numbers, {begin, begin + number_of_iterations(first, end, step)});
  }
  return {own.first, step, count, numbers.begin, std::max(numbers.begin, numbers.end)};
}

// The difference of two boxes A and B is, for each dimension d, the two parts of A beside B in d
// that lie in both boxes in the dimensions before d.
nagaya_xmp_range nagaya_xmp_expanded_range(const nagaya_xmp_expanded* loops, int count, int which,
                                           int part) {
  using namespace nagaya::xmp;
  const nagaya_xmp_expanded& loop = loops[which];
  Numbers a = expanded_numbers(loop), b = own_numbers(loop);
  if (part > 0) {
    const int box = (part - 1) % (2 * count);
    if (part > 2 * count) std::swap(a, b);
    if (which < box / 2) a = intersection(a, b);
    if (which == box / 2) a = beside(a, b, box % 2 != 0);
  }
  return {loop.first + a.begin * loop.step, loop.first + a.end * loop.step};
}
