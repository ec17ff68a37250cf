// SPDX-License-Identifier: BSD-3-Clause
#include "array/shadow_pieces.h"

namespace nagaya::array {
namespace {

// Appends the pieces of `shadow`, indexes in the reader's numbering.
void add_pieces(const Shape& shape, size_t d, uint32_t reader, bool is_high, Interval shadow,
                std::vector<ShadowPiece>& pieces) {
  const int64_t extent = shape.dimension(d).extent;
  for (int64_t to = shadow.low; to <= shadow.high;) {
    const int64_t from = ((to % extent) + extent) % extent;
    const uint32_t owner = shape.coordinate_of(d, from);
    const int64_t count = std::min(shadow.high - to, shape.owned(d, owner).high - from) + 1;
    pieces.push_back({reader, owner, is_high, to, from, count});
    to += count;
  }
}

}  // namespace

std::vector<ShadowPiece> shadow_pieces(const Shape& shape, size_t d, uint32_t reader,
                                       const nagaya_array_width& width) {
  std::vector<ShadowPiece> pieces;
  const Interval all{0, shape.dimension(d).extent - 1};
  const Interval owned = shape.owned(d, reader);
  const auto add = [&](bool is_high, Interval shadow) {
    if (width.periodic == 0) shadow = intersection(shadow, all);
    add_pieces(shape, d, reader, is_high, shadow, pieces);
  };
  if (!is_empty(owned)) {
    add(false, {owned.low - width.low, owned.low - 1});
    add(true, {owned.high + 1, owned.high + width.high});
  } else if (shape.has_full_shadow(d) && (width.low != 0 || width.high != 0)) {
    add(false, all);
  }
  return pieces;
}

}  // namespace nagaya::array
