// SPDX-License-Identifier: BSD-3-Clause
// shape.h - the dimensions of an array, the grid it lies on, and the blocks that follow from both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "array/distribution.h"
#include "nagaya/array.h"

namespace nagaya::array {

inline constexpr size_t kDimensions = NAGAYA_ARRAY_DIMENSIONS;

inline bool has_full_shadow(const nagaya_array_dimension& of) {
  return of.shadow_low == NAGAYA_ARRAY_FULL_SHADOW && of.shadow_high == NAGAYA_ARRAY_FULL_SHADOW;
}

// The layout of a process's block in its memory, shadow included.
struct Layout {
  std::array<int64_t, kDimensions> first;     // the position at its beginning
  std::array<int64_t, kDimensions> count;     // at least 1
  std::array<ptrdiff_t, kDimensions> stride;  // from one index to the next         [bytes]
  size_t bytes;

  // Returns the offset of an element from the beginning of that memory [bytes].
  ptrdiff_t offset_of(const std::array<int64_t, kDimensions>& position, size_t dimensions) const {
    ptrdiff_t offset = 0;
    for (size_t d = 0; d < dimensions; ++d) offset += (position[d] - first[d]) * stride[d];
    return offset;
  }
};

// The shape of an array on its grid. Immutable, so any thread may use it.
//
// An element's position in a dimension tells where it lies in its owner's block. It is the index;
// in a cyclic dimension without a full shadow the index's place, and so positions of one coordinate
// are consecutive, except in a cyclic dimension with a full shadow.
class Shape {
 public:
  // `processes`: as many as lie on the grid.
  static bool is_valid(const nagaya_array_shape& shape, const nagaya_array_grid& grid,
                       uint32_t processes);
  // `shape` and `grid` are valid (is_valid). May throw std::bad_alloc.
  Shape(const nagaya_array_shape& shape, const nagaya_array_grid& grid);

  size_t element_bytes() const { return element_bytes_; }
  size_t dimensions() const { return dimensions_.size(); }
  const nagaya_array_dimension& dimension(size_t d) const { return dimensions_[d]; }

  // ---- along one dimension of the array

  uint32_t coordinates(size_t d) const {
    return is_distributed(d) ? dimensions_[d].distribution.coordinates : 1;
  }
  bool is_cyclic(size_t d) const {
    return is_distributed(d) && dimensions_[d].distribution.kind == NAGAYA_DISTRIBUTION_CYCLIC;
  }
  // Whether a coordinate's indexes are no interval, and positions are indexes all the same.
  bool is_scattered(size_t d) const { return is_cyclic(d) && has_full_shadow(d); }
  // The positions that a coordinate has; not for a scattered dimension.
  Interval owned(size_t d, uint32_t coordinate) const;
  // The positions for which its block has room, those of its shadow included.
  Interval with_shadow(size_t d, uint32_t coordinate) const;
  bool has_full_shadow(size_t d) const { return array::has_full_shadow(dimensions_[d]); }
  // The coordinate and the position of an index.
  uint32_t coordinate_of(size_t d, int64_t index) const;
  int64_t position_of(size_t d, int64_t index) const;
  // The consecutive indexes of a coordinate from the one at a position on, which it owns.
  Interval run_at(size_t d, uint32_t coordinate, int64_t position) const;

  // ---- processes by rank

  uint32_t size() const { return size_; }

  uint32_t coordinate_of_rank(size_t d, uint32_t rank) const {
    return is_distributed(d) ? rank / grid_stride(d) % grid_extent(d) : 0;
  }
  // The rank of the process that differs from `rank` in one dimension of the array only.
  uint32_t rank_beside(uint32_t rank, size_t d, uint32_t coordinate) const {
    return is_distributed(d) ? rank + (coordinate - coordinate_of_rank(d, rank)) * grid_stride(d)
                             : rank;
  }
  Layout layout_of_rank(uint32_t rank) const;

 private:
  bool is_distributed(size_t d) const { return dimensions_[d].grid_dimension >= 0; }
  uint32_t grid_extent(size_t d) const {
    return grid_extents_[static_cast<size_t>(dimensions_[d].grid_dimension)];
  }
  uint32_t grid_stride(size_t d) const {
    return grid_strides_[static_cast<size_t>(dimensions_[d].grid_dimension)];
  }

  const size_t element_bytes_;
  const std::vector<nagaya_array_dimension> dimensions_;
  const std::vector<uint32_t> grid_extents_;
  std::vector<uint32_t> grid_strides_;  // in ranks
  uint32_t size_;                       // of the grid
};

}  // namespace nagaya::array
