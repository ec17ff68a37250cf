// SPDX-License-Identifier: BSD-3-Clause
#include "array/shape.h"

namespace nagaya::array {
namespace {

// Whether the indexes of an array's dimension lie in its distribution, on a dimension of the grid
// that no earlier dimension of the array has taken. Marks it in `taken`.
bool is_valid_dimension(const nagaya_array_dimension& of, const nagaya_array_grid& grid,
                        uint32_t& taken) {
  if (of.extent < 1 || (!has_full_shadow(of) && (of.shadow_low < 0 || of.shadow_high < 0)))
    return false;
  if (of.grid_dimension < 0) return true;
  const auto along = static_cast<uint32_t>(of.grid_dimension);
  if (along >= grid.dimensions || (taken >> along & 1) != 0) return false;
  taken |= uint32_t{1} << along;
  const bool is_cyclic = of.distribution.kind == NAGAYA_DISTRIBUTION_CYCLIC;
  if (is_cyclic && !has_full_shadow(of) && (of.shadow_low != 0 || of.shadow_high != 0))
    return false;
  return is_valid(of.distribution) && of.distribution.coordinates == grid.extent[along] &&
         of.offset >= of.distribution.low && of.offset <= of.distribution.high &&
         of.extent - 1 <= of.distribution.high - of.offset;
}

// Multiplies `bytes` by the dimension's indexes, shadow included. Returns false if that overflows.
bool multiply_by_indexes(const nagaya_array_dimension& of, ptrdiff_t& bytes) {
  ptrdiff_t indexes;
  if (has_full_shadow(of)) return !__builtin_mul_overflow(bytes, of.extent, &bytes);
  return !__builtin_add_overflow(of.extent, of.shadow_low, &indexes) &&
         !__builtin_add_overflow(indexes, of.shadow_high, &indexes) &&
         !__builtin_mul_overflow(bytes, indexes, &bytes);
}

}  // namespace

bool Shape::is_valid(const nagaya_array_shape& shape, const nagaya_array_grid& grid,
                     uint32_t processes) {
  const auto is_count = [](uint32_t n) { return n >= 1 && n <= kDimensions; };
  if (shape.element_bytes == 0 || !is_count(shape.dimensions) || !is_count(grid.dimensions))
    return false;
  uint64_t size = 1;
  for (uint32_t g = 0; g < grid.dimensions; ++g) {
    if (grid.extent[g] == 0) return false;
    size *= grid.extent[g];
    if (size > UINT32_MAX) return false;
  }
  if (size != processes) return false;
  uint32_t taken = 0;
  ptrdiff_t bytes;
  if (__builtin_mul_overflow(shape.element_bytes, 1, &bytes)) return false;
  for (uint32_t d = 0; d < shape.dimensions; ++d)
    if (!is_valid_dimension(shape.dimension[d], grid, taken) ||
        !multiply_by_indexes(shape.dimension[d], bytes))
      return false;
  return true;
}

Shape::Shape(const nagaya_array_shape& shape, const nagaya_array_grid& grid)
    : element_bytes_(shape.element_bytes),
      dimensions_(shape.dimension, shape.dimension + shape.dimensions),
      grid_extents_(grid.extent, grid.extent + grid.dimensions),
      grid_strides_(grid.dimensions) {
  uint32_t stride = 1;
  for (size_t g = grid_extents_.size(); g-- != 0; stride *= grid_extents_[g])
    grid_strides_[g] = stride;
  size_ = stride;
}

Interval Shape::owned(size_t d, uint32_t coordinate) const {
  const nagaya_array_dimension& of = dimensions_[d];
  const Interval all{0, of.extent - 1};
  if (!is_distributed(d)) return all;
  if (is_cyclic(d))
    return {count_below(of.distribution, coordinate, of.offset),
            count_below(of.distribution, coordinate, of.offset + of.extent) - 1};
  const Interval part = array::run_at(of.distribution, coordinate, 0);
  return intersection({part.low - of.offset, part.high - of.offset}, all);
}

Interval Shape::with_shadow(size_t d, uint32_t coordinate) const {
  const nagaya_array_dimension& of = dimensions_[d];
  if (has_full_shadow(d)) return {0, of.extent - 1};
  const Interval own = owned(d, coordinate);
  return {own.low - of.shadow_low, own.low + length_of(own) - 1 + of.shadow_high};
}

uint32_t Shape::coordinate_of(size_t d, int64_t index) const {
  if (!is_distributed(d)) return 0;
  return array::coordinate_of(dimensions_[d].distribution, index + dimensions_[d].offset);
}

int64_t Shape::position_of(size_t d, int64_t index) const {
  if (!is_cyclic(d) || is_scattered(d)) return index;
  return place_of(dimensions_[d].distribution, index + dimensions_[d].offset);
}

Interval Shape::run_at(size_t d, uint32_t coordinate, int64_t position) const {
  if (!is_cyclic(d)) return {position, owned(d, coordinate).high};
  const nagaya_array_dimension& of = dimensions_[d];
  const int64_t place =
      is_scattered(d) ? place_of(of.distribution, position + of.offset) : position;
  const Interval run = array::run_at(of.distribution, coordinate, place);
  return {run.low - of.offset, std::min(run.high - of.offset, of.extent - 1)};
}

Layout Shape::layout_of_rank(uint32_t rank) const {
  Layout layout{};
  layout.bytes = element_bytes_;
  for (size_t d = dimensions(); d-- != 0;) {
    const Interval room = with_shadow(d, coordinate_of_rank(d, rank));
    const int64_t count = length_of(room);
    layout.first[d] = room.low;
    layout.count[d] = count > 0 ? count : 1;
    layout.stride[d] = static_cast<ptrdiff_t>(layout.bytes);
    layout.bytes *= static_cast<size_t>(layout.count[d]);
  }
  return layout;
}

}  // namespace nagaya::array
