// SPDX-License-Identifier: BSD-3-Clause
#include "array/distribution.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace nagaya::array {
namespace {

TEST(Distribution, TheLastCoordinatesHaveFewerIndexesOrNone) {
  const nagaya_distribution of{0, 9, 4, 4};
  ASSERT_TRUE(is_valid(of));
  const int64_t lengths[] = {4, 4, 2, 0};
  for (uint32_t c = 0; c < 4; ++c) EXPECT_EQ(length_of(interval_of(of, c)), lengths[c]) << c;
}

TEST(Distribution, EachIndexIsInThePartOfItsCoordinate) {
  const nagaya_distribution of{-3, 11, 4, 5};
  for (int64_t i = of.low; i <= of.high; ++i) {
    const Interval part = interval_of(of, coordinate_of(of, i));
    EXPECT_TRUE(part.low <= i && i <= part.high) << i;
  }
}

TEST(Distribution, BlocksThatDoNotHoldAllIndexesAreNotValid) {
  EXPECT_TRUE(is_valid({0, 8, 3, 3}));
  EXPECT_FALSE(is_valid({0, 9, 3, 3}));
  EXPECT_FALSE(is_valid({0, 9, 0, 3}));
  EXPECT_FALSE(is_valid({0, 9, 10, 0}));
}

TEST(Distribution, BlocksThatEndBehindAllNumbersAreNotValid) {
  EXPECT_TRUE(is_valid({0, 9, int64_t{1} << 60, 5}));
  EXPECT_FALSE(is_valid({0, 9, int64_t{1} << 62, 5}));
  EXPECT_FALSE(is_valid({INT64_MAX - 9, INT64_MAX, 10, 1}));
  EXPECT_FALSE(is_valid({INT64_MIN, 9, 10, 1}));
}

// The indexes of a loop that lie in an interval, one by one.
std::vector<int64_t> indexes_in(Interval interval, int64_t step, int64_t first, int64_t end) {
  std::vector<int64_t> indexes;
  for (int64_t i = first; step > 0 ? i < end : i > end; i += step)
    if (interval.low <= i && i <= interval.high) indexes.push_back(i);
  return indexes;
}

TEST(ClippedLoop, RunsThroughTheIndexesOfTheLoopThatLieInTheInterval) {
  std::mt19937 random(1);
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int n = 0; n < 20'000; ++n) {
    const int64_t low = draw(-10, 10);
    const Interval interval{low, draw(low - 2, low + 12)};
    const int64_t step = draw(0, 1) != 0 ? draw(1, 5) : draw(-5, -1);
    int64_t first = draw(-20, 20), end = draw(-20, 20);
    const std::vector<int64_t> wanted = indexes_in(interval, step, first, end);
    clip_loop(interval, step, first, end);
    const Interval everything{INT64_MIN, INT64_MAX};
    EXPECT_EQ(indexes_in(everything, step, first, end), wanted);
    EXPECT_EQ(wanted.empty(), first == end);
  }
}

}  // namespace
}  // namespace nagaya::array
