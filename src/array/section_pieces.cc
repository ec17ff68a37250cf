// SPDX-License-Identifier: BSD-3-Clause
#include "array/section_pieces.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace nagaya::array {
namespace {

// Returns one piece for each run of consecutive indexes at one coordinate. `step` is positive.
std::vector<Piece> pieces_by_runs(const Shape& shape, size_t d, const Triplet& section) {
  std::vector<Piece> pieces;
  for (int64_t n = 0; n < section.count;) {
    const int64_t index = section.first + n * section.step;
    const uint32_t coordinate = shape.coordinate_of(d, index);
    const int64_t position = shape.position_of(d, index);
    const int64_t last = shape.run_at(d, coordinate, position).high;
    const int64_t count = std::min((last - index) / section.step + 1, section.count - n);
    pieces.push_back({coordinate, n, 1, count, position, section.step});
    n += count;
  }
  return pieces;
}

// Returns one piece for each element of the first period of a cyclic dimension: the elements that
// lie whole periods behind it are at the same coordinate.
std::vector<Piece> pieces_by_periods(const Shape& shape, size_t d, const Triplet& section,
                                     int64_t period) {
  std::vector<Piece> pieces;
  const int64_t position_stride =
      section.step * period / (shape.is_scattered(d) ? 1 : shape.coordinates(d));
  for (int64_t n = 0; n < std::min(period, section.count); ++n) {
    const int64_t index = section.first + n * section.step;
    pieces.push_back({shape.coordinate_of(d, index), n, period,
                      (section.count - n + period - 1) / period, shape.position_of(d, index),
                      position_stride});
  }
  return pieces;
}

std::vector<Piece> pieces_of_rising(const Shape& shape, size_t d, const Triplet& section) {
  if (!shape.is_cyclic(d)) return pieces_by_runs(shape, d, section);
  const nagaya_distribution& of = shape.dimension(d).distribution;
  const int64_t round = of.width * of.coordinates;
  const int64_t period = round / std::gcd(section.step, round);  // in elements of the section
  const int64_t runs =
      section.step < of.width ? section.count * section.step / of.width + 1 : section.count;
  return period < runs ? pieces_by_periods(shape, d, section, period)
                       : pieces_by_runs(shape, d, section);
}

// Returns x with a * x = 1 modulo m, for a and m that have no common divisor.
int64_t inverse(int64_t a, int64_t m) {
  int64_t r = m, next_r = a % m, x = 0, next_x = 1;
  while (next_r != 0) {
    const int64_t q = r / next_r;
    r = std::exchange(next_r, r - q * next_r);
    x = std::exchange(next_x, x - q * next_x);
  }
  return x < 0 ? x + m : x;
}

// Finds the first number that both pieces have; -1: there is none before `end`.
int64_t first_common(const Piece& a, const Piece& b, int64_t end) {
  const int64_t divisor = std::gcd(a.stride, b.stride);
  if ((b.first - a.first) % divisor != 0) return -1;
  const int64_t modulus = b.stride / divisor;
  int64_t steps = (b.first - a.first) / divisor % modulus;
  if (steps < 0) steps += modulus;
  steps = static_cast<int64_t>(static_cast<__int128>(steps) * inverse(a.stride / divisor, modulus) %
                               modulus);
  int64_t found = a.first + steps * a.stride;
  const int64_t common = a.stride * modulus;
  if (found < b.first) found += (b.first - found + common - 1) / common * common;
  return found < end ? found : -1;
}

int64_t end_of(const Piece& piece) {
  return piece.first + (piece.count - 1) * piece.stride + 1;
}

}  // namespace

std::vector<Piece> pieces_of(const Shape& shape, size_t d, const Triplet& section) {
  if (section.step > 0) return pieces_of_rising(shape, d, section);
  if (section.step == 0 || section.count == 1) {
    const uint32_t coordinate = shape.coordinate_of(d, section.first);
    return {{coordinate, 0, 1, section.count, shape.position_of(d, section.first), 0}};
  }
  const int64_t last = section.count - 1;
  std::vector<Piece> pieces = pieces_of_rising(
      shape, d, {section.first + last * section.step, section.count, -section.step});
  for (Piece& piece : pieces) {
    const int64_t steps = piece.count - 1;
    piece.first = last - piece.first - steps * piece.stride;
    piece.position += steps * piece.position_stride;
    piece.position_stride = -piece.position_stride;
  }
  std::ranges::sort(pieces, {}, &Piece::first);
  return pieces;
}

bool overlap_of(const Piece& to, const Piece& from, Overlap& out) {
  const int64_t end = std::min(end_of(to), end_of(from));
  const int64_t first = first_common(to, from, end);
  if (first < 0) return false;
  const int64_t stride = std::lcm(to.stride, from.stride);
  const auto position = [first](const Piece& of) {
    return of.position + (first - of.first) / of.stride * of.position_stride;
  };
  const auto position_stride = [stride](const Piece& of) {
    return stride / of.stride * of.position_stride;
  };
  out = {from.coordinate, (end - 1 - first) / stride + 1, position(to), position_stride(to),
         position(from),  position_stride(from)};
  return true;
}

std::vector<Overlap> overlaps_of(std::span<const Piece> to, std::span<const Piece> from) {
  std::vector<Overlap> overlaps;
  if (to.empty() || from.empty()) return overlaps;
  // Pieces have a common element only if their first elements are equal modulo this divisor. It is
  // 1 if the pieces of `from` are runs; these end in the order in which they begin.
  const int64_t divisor = std::gcd(to.front().stride, from.front().stride);
  const bool are_runs = from.front().stride == 1;
  const auto residue = [divisor](const Piece& piece) { return piece.first % divisor; };
  std::vector<Piece> by_residue(from.begin(), from.end());
  std::ranges::stable_sort(by_residue, {}, residue);
  Overlap overlap;
  for (const Piece& target : to) {
    auto [at, end] = std::ranges::equal_range(by_residue, residue(target), {}, residue);
    if (are_runs)
      at = std::partition_point(at, end, [&](const Piece& p) { return end_of(p) <= target.first; });
    for (; at != end && at->first < end_of(target); ++at)
      if (overlap_of(target, *at, overlap)) overlaps.push_back(overlap);
  }
  return overlaps;
}

}  // namespace nagaya::array
