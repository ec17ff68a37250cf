// SPDX-License-Identifier: BSD-3-Clause
// grids.h - shapes of arrays for tests, all dimensions in blocks.
#pragma once

#include <vector>

#include "array/shape.h"

namespace nagaya::array {

constexpr int64_t kFull = NAGAYA_ARRAY_FULL_SHADOW;  // as shadow_low and shadow_high

struct TestDimension {
  int64_t extent;
  uint32_t coordinates;
  int64_t shadow_low, shadow_high;
};

inline Shape shape_of(const std::vector<TestDimension>& all, size_t element_bytes = 4) {
  std::vector<nagaya_array_dimension> dimensions;
  std::vector<uint32_t> extents;
  for (const TestDimension& one : all) {
    const int64_t width = (one.extent + one.coordinates - 1) / one.coordinates;
    dimensions.push_back(
        {one.extent,
         static_cast<int32_t>(dimensions.size()),
         {0, one.extent - 1, width, one.coordinates, NAGAYA_DISTRIBUTION_BLOCK, nullptr},
         0,
         one.shadow_low,
         one.shadow_high});
    extents.push_back(one.coordinates);
  }
  const auto count = static_cast<uint32_t>(dimensions.size());
  return Shape({element_bytes, count, dimensions.data()}, {nullptr, count, extents.data()});
}

}  // namespace nagaya::array
