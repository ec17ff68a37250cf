// SPDX-License-Identifier: BSD-3-Clause
// section_pieces.h - one dimension of an array section, cut into pieces that lie regularly at one
// coordinate each, and what the pieces of two sections have in common.
//
//   section of 8 of a dimension, cyclic onto 2 coordinates      numbers   coordinate   positions
//     first 0, step 1                                           0 2 4 6   0            0 1 2 3
//                                                               1 3 5 7   1            0 1 2 3
#pragma once

#include <span>
#include <vector>

#include "array/shape.h"

namespace nagaya::array {

using Triplet = nagaya_array_triplet;

// The elements `first`, first + stride, ... of a section, by their numbers in it. Element
// first + n * stride lies at position + n * position_stride (shape.h) of the coordinate.
struct Piece {
  uint32_t coordinate;
  int64_t first, stride, count;  // stride is at least 1
  int64_t position, position_stride;
};

// Returns pieces that have each element of the section once, ascending by `first`. All of them have
// the same stride. May throw std::bad_alloc.
std::vector<Piece> pieces_of(const Shape& shape, size_t d, const Triplet& section);

// The elements that two pieces have in common.
struct Overlap {
  uint32_t from_coordinate;
  int64_t count;
  int64_t to, to_stride, from, from_stride;  // positions
};

// Returns whether the pieces have common elements, and if so describes them in `out`.
bool overlap_of(const Piece& to, const Piece& from, Overlap& out);

// Returns the overlaps of all pairs of pieces, in the order of `to`, then of `from`. The pieces of
// each list are some of pieces_of(), in its order. May throw std::bad_alloc.
std::vector<Overlap> overlaps_of(std::span<const Piece> to, std::span<const Piece> from);

}  // namespace nagaya::array
