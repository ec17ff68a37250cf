// SPDX-License-Identifier: BSD-3-Clause
#include "array/shape.h"

#include <gtest/gtest.h>

#include "array/grids.h"

namespace nagaya::array {
namespace {

TEST(Shape, ABlockLiesBesideItsShadow) {
  const Shape shape = shape_of({{10, 3, 1, 2}, {6, 2, 0, 1}});
  const Layout last = shape.layout_of_rank(5);  // coordinates 2, 1: rows 8 and 9, columns 3 to 5
  EXPECT_EQ(last.first[0], 7);
  EXPECT_EQ(last.count[0], 2 + 3);
  EXPECT_EQ(last.first[1], 3);
  EXPECT_EQ(last.count[1], 3 + 1);
  EXPECT_EQ(last.stride[0], 4 * 4);
  EXPECT_EQ(last.bytes, 5u * 4 * 4);
}

TEST(Shape, AnEmptyBlockHasRoomForOneElement) {
  const Shape shape = shape_of({{3, 4, 0, 0}});
  EXPECT_TRUE(is_empty(shape.owned(0, 3)));
  EXPECT_EQ(shape.layout_of_rank(3).count[0], 1);
}

TEST(Shape, RanksRunFastestAlongTheLastDimension) {
  const Shape shape = shape_of({{4, 2, 0, 0}, {6, 3, 0, 0}});
  EXPECT_EQ(shape.size(), 6u);
  EXPECT_EQ(shape.coordinate_of_rank(0, 4), 1u);
  EXPECT_EQ(shape.coordinate_of_rank(1, 4), 1u);
  EXPECT_EQ(shape.rank_beside(4, 0, 0), 1u);
  EXPECT_EQ(shape.rank_beside(4, 1, 2), 5u);
}

class ShapeValidity : public testing::Test {
 protected:
  bool is_valid() const {
    return Shape::is_valid({8, 2, dimensions_}, {nullptr, 2, extents_}, processes_);
  }
  uint32_t extents_[2] = {2, 3}, processes_ = 6;
  nagaya_array_dimension dimensions_[2] = {{8, 0, {0, 7, 4, 2}, 0, 1, 1},
                                           {9, 1, {0, 8, 3, 3}, 0, 0, 0}};
};

TEST_F(ShapeValidity, HoldsForBlocksOnAGrid) {
  EXPECT_TRUE(is_valid());
}
TEST_F(ShapeValidity, NeedsAProcessForEachPlaceOfTheGrid) {
  for (processes_ = 0; processes_ < 10; ++processes_) EXPECT_EQ(is_valid(), processes_ == 6);
}
TEST_F(ShapeValidity, NeedsDimensionsOfTheGridThatNoOtherDimensionLiesAlong) {
  dimensions_[1].grid_dimension = 0;
  EXPECT_FALSE(is_valid());
}
TEST_F(ShapeValidity, NeedsAsManyCoordinatesAsTheGridHas) {
  dimensions_[0].distribution.coordinates = 3;
  EXPECT_FALSE(is_valid());
}
TEST_F(ShapeValidity, NeedsAllIndexesInTheDistribution) {
  dimensions_[0].offset = 1;
  EXPECT_FALSE(is_valid());
  dimensions_[0].extent = 7;
  EXPECT_TRUE(is_valid());
  dimensions_[0].offset = INT64_MAX;
  EXPECT_FALSE(is_valid());
}
TEST_F(ShapeValidity, NeedsFewerBytesThanAnAddressHas) {
  dimensions_[0] = {int64_t{1} << 40, 0, {0, (int64_t{1} << 40) - 1, int64_t{1} << 39, 2}, 0, 0, 0};
  EXPECT_TRUE(is_valid());
  dimensions_[1] = {int64_t{1} << 30, 1, {0, (int64_t{1} << 30) - 1, int64_t{1} << 29, 3}, 0, 0, 0};
  EXPECT_FALSE(is_valid());
}
TEST_F(ShapeValidity, NeedsShadowsThatAreNotNegative) {
  dimensions_[0].shadow_low = -1;
  EXPECT_FALSE(is_valid());
}

}  // namespace
}  // namespace nagaya::array
