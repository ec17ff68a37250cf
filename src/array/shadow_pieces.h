// SPDX-License-Identifier: BSD-3-Clause
// shadow_pieces.h - the parts of one process's shadow along one dimension, by their owners.
#pragma once

#include <cstdint>
#include <vector>

#include "array/shape.h"

namespace nagaya::array {

// Rows of a shadow that one owner has.
struct ShadowPiece {
  uint32_t reader, owner;  // coordinates; the reader has the shadow
  bool is_high;
  int64_t to;  // the first index in the reader's numbering: below 0 or beyond the end, if periodic
  int64_t from;  // the index of that row in the array
  int64_t count;
};

// Returns the pieces of the shadow of the coordinate `reader` in dimension d, from low to high
// indexes. `width` is not wider than the shadow. May throw std::bad_alloc.
std::vector<ShadowPiece> shadow_pieces(const Shape& shape, size_t d, uint32_t reader,
                                       const nagaya_array_width& width);

}  // namespace nagaya::array
