// SPDX-License-Identifier: BSD-3-Clause
#include "array/distribution.h"

#include <numeric>

namespace nagaya::array {
namespace {

bool is_general(const nagaya_distribution& of) {
  return of.kind == NAGAYA_DISTRIBUTION_GENERAL;
}

// Returns the length of a run, but for the last one. A block is one run of a cyclic distribution
// that ends before the second; a single coordinate has all indexes in one run.
int64_t run_length(const nagaya_distribution& of) {
  return of.coordinates == 1 ? std::max<int64_t>(of.high - of.low + 1, 1) : of.width;
}

bool is_valid_general(const nagaya_distribution& of) {
  return of.begin != nullptr && of.high < INT64_MAX && of.begin[0] == of.low &&
         of.begin[of.coordinates] == of.high + 1 &&
         std::is_sorted(of.begin, of.begin + of.coordinates + 1);
}

int64_t rounded_up(int64_t distance, int64_t step) {
  return (distance + step - 1) / step * step;
}

}  // namespace

// low + width * coordinates must not overflow either, so that nothing that is computed here does.
bool is_valid(const nagaya_distribution& of) {
  int64_t indexes, room, end;
  if (__builtin_sub_overflow(of.high, of.low, &indexes) ||
      __builtin_add_overflow(indexes, 1, &indexes) || indexes < 0 || of.coordinates < 1)
    return false;
  if (is_general(of)) return is_valid_general(of);
  if (of.width < 1 || __builtin_mul_overflow(of.width, of.coordinates, &room)) return false;
  if (of.kind == NAGAYA_DISTRIBUTION_CYCLIC) return !__builtin_add_overflow(of.high, room, &end);
  return of.kind == NAGAYA_DISTRIBUTION_BLOCK && room >= indexes &&
         !__builtin_add_overflow(of.low, room, &end);
}

int64_t count_below(const nagaya_distribution& of, uint32_t coordinate, int64_t index) {
  if (is_general(of))
    return std::clamp(index, of.begin[coordinate], of.begin[coordinate + 1]) - of.begin[coordinate];
  const int64_t run = run_length(of), round = run * of.coordinates;
  const int64_t before = std::clamp(index, of.low, of.high + 1) - of.low;
  return before / round * run + std::clamp<int64_t>(before % round - coordinate * run, 0, run);
}

uint32_t coordinate_of(const nagaya_distribution& of, int64_t index) {
  if (is_general(of))
    return static_cast<uint32_t>(std::upper_bound(of.begin, of.begin + of.coordinates + 1, index) -
                                 of.begin - 1);
  return static_cast<uint32_t>((index - of.low) / run_length(of) % of.coordinates);
}

int64_t index_at(const nagaya_distribution& of, uint32_t coordinate, int64_t place) {
  if (is_general(of)) return of.begin[coordinate] + place;
  const int64_t run = run_length(of);
  return of.low + (place / run * of.coordinates + coordinate) * run + place % run;
}

Interval run_at(const nagaya_distribution& of, uint32_t coordinate, int64_t place) {
  const int64_t low = index_at(of, coordinate, place);
  if (is_general(of)) return {low, of.begin[coordinate + 1] - 1};
  const int64_t run = run_length(of);
  return {low, std::min(low + run - place % run - 1, of.high)};
}

bool has_index_in(const nagaya_distribution& of, uint32_t coordinate, int64_t low, int64_t high,
                  int64_t step) {
  const int64_t places = count_below(of, coordinate, high + 1);
  for (int64_t place = count_below(of, coordinate, low); place < places;) {
    const Interval run = run_at(of, coordinate, place);
    int64_t first = low, end = high + 1;
    clip_loop(run, step, first, end);
    if (first != end) return true;
    place += length_of(run);
  }
  return false;
}

nagaya_rounds rounds_of_loop(const nagaya_distribution& of, uint32_t coordinate, int64_t first,
                             int64_t last, int64_t step) {
  const int64_t round = of.width * of.coordinates, begin = of.low + coordinate * of.width;
  const int64_t low = std::min(first, last) - begin, high = std::max(first, last) - begin;
  // Rounds that end at or above the loop's lowest index and begin at or below its highest one.
  const int64_t lowest = low < of.width ? 0 : (low - of.width) / round + 1;
  const int64_t highest = high < 0 ? -1 : high / round;
  const int64_t direction = step > 0 ? 1 : -1;
  int64_t n = step > 0 ? lowest : highest;
  const int64_t end = step > 0 ? highest + 1 : lowest - 1;
  if (lowest > highest) return {0, 0, direction};
  if (of.width > 1) return {n, end, direction};
  while (n != end && (begin + n * round - first) % step != 0) n += direction;
  return {n, end, step / std::gcd(step, round)};
}

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
