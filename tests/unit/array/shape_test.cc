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

// Compares positions with the definition: owned elements are consecutive, in the indexes' order.
TEST(Shape, PositionsOfACyclicDimensionAreConsecutiveWhereverTheArrayBegins) {
  const uint32_t extents[] = {3};
  for (const int64_t width : {1, 2, 5})
    for (int64_t offset = -4; offset < 8; ++offset)
      for (int64_t extent = 1; offset + extent <= 9; ++extent) {
        const nagaya_array_dimension dimension = {
            extent, 0, {-4, 8, width, 3, NAGAYA_DISTRIBUTION_CYCLIC, nullptr}, offset, 0, 0};
        ASSERT_TRUE(Shape::is_valid({4, 1, &dimension}, {nullptr, 1, extents}, 3));
        const Shape shape({4, 1, &dimension}, {nullptr, 1, extents});
        int64_t next[3];
        for (uint32_t c = 0; c < 3; ++c) next[c] = shape.owned(0, c).low;
        for (int64_t i = 0; i < extent; ++i) {
          const uint32_t c = shape.coordinate_of(0, i);
          EXPECT_EQ(shape.position_of(0, i), next[c]++);
          const Interval run = shape.run_at(0, c, shape.position_of(0, i));
          EXPECT_EQ(run.low, i);
          EXPECT_EQ(shape.coordinate_of(0, run.high), c);
          EXPECT_TRUE(run.high == extent - 1 || shape.coordinate_of(0, run.high + 1) != c);
        }
        for (uint32_t c = 0; c < 3; ++c) EXPECT_EQ(shape.owned(0, c).high, next[c] - 1);
      }
}

TEST(Shape, InAFullShadowPositionsOfACyclicDimensionAreTheIndexes) {
  const uint32_t extents[] = {3};
  const nagaya_array_dimension dimension = {8,
                                            0,
                                            {-4, 8, 2, 3, NAGAYA_DISTRIBUTION_CYCLIC, nullptr},
                                            -1,
                                            NAGAYA_ARRAY_FULL_SHADOW,
                                            NAGAYA_ARRAY_FULL_SHADOW};
  ASSERT_TRUE(Shape::is_valid({4, 1, &dimension}, {nullptr, 1, extents}, 3));
  const Shape shape({4, 1, &dimension}, {nullptr, 1, extents});
  EXPECT_EQ(shape.layout_of_rank(1).first[0], 0);
  EXPECT_EQ(shape.layout_of_rank(1).count[0], 8);
  for (int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(shape.position_of(0, i), i);
    EXPECT_EQ(shape.run_at(0, shape.coordinate_of(0, i), i).low, i);
  }
}

TEST(Shape, ABlockOfGeneralSizesLiesBesideItsShadow) {
  const uint32_t extents[] = {3};
  const int64_t begin[] = {1, 2, 8, 11};
  const nagaya_array_dimension dimension = {8, 0, {1, 10, 0, 3, NAGAYA_DISTRIBUTION_GENERAL, begin},
                                            2, 1, 2};
  const Shape shape({4, 1, &dimension}, {nullptr, 1, extents});
  EXPECT_TRUE(is_empty(shape.owned(0, 0)));
  EXPECT_EQ(shape.layout_of_rank(1).first[0], -1);
  EXPECT_EQ(shape.layout_of_rank(1).count[0], 6 + 3);
  EXPECT_EQ(shape.owned(0, 2).high, 7);
}

class ShapeValidity : public testing::Test {
 protected:
  bool is_valid() const {
    return Shape::is_valid({8, 2, dimensions_}, {nullptr, 2, extents_}, processes_);
  }
  uint32_t extents_[2] = {2, 3}, processes_ = 6;
  nagaya_array_dimension dimensions_[2] = {
      {8, 0, {0, 7, 4, 2, NAGAYA_DISTRIBUTION_BLOCK, nullptr}, 0, 1, 1},
      {9, 1, {0, 8, 3, 3, NAGAYA_DISTRIBUTION_BLOCK, nullptr}, 0, 0, 0}};
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
  dimensions_[0] = {
      int64_t{1} << 40,
      0,
      {0, (int64_t{1} << 40) - 1, int64_t{1} << 39, 2, NAGAYA_DISTRIBUTION_BLOCK, nullptr},
      0,
      0,
      0};
  EXPECT_TRUE(is_valid());
  dimensions_[1] = {
      int64_t{1} << 30,
      1,
      {0, (int64_t{1} << 30) - 1, int64_t{1} << 29, 3, NAGAYA_DISTRIBUTION_BLOCK, nullptr},
      0,
      0,
      0};
  EXPECT_FALSE(is_valid());
}
TEST_F(ShapeValidity, NeedsPartsThatAreIntervalsForShadows) {
  dimensions_[0].distribution.kind = NAGAYA_DISTRIBUTION_CYCLIC;
  EXPECT_FALSE(is_valid());
  dimensions_[0].shadow_low = dimensions_[0].shadow_high = 0;
  EXPECT_TRUE(is_valid());
}
TEST_F(ShapeValidity, NeedsShadowsThatAreNotNegative) {
  dimensions_[0].shadow_low = -1;
  EXPECT_FALSE(is_valid());
}

}  // namespace
}  // namespace nagaya::array
