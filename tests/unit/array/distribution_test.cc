// SPDX-License-Identifier: BSD-3-Clause
#include "array/distribution.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace nagaya::array {
namespace {

nagaya_distribution block(int64_t low, int64_t high, int64_t width, uint32_t coordinates) {
  return {low, high, width, coordinates, NAGAYA_DISTRIBUTION_BLOCK, nullptr};
}

nagaya_distribution cyclic(int64_t low, int64_t high, int64_t width, uint32_t coordinates) {
  return {low, high, width, coordinates, NAGAYA_DISTRIBUTION_CYCLIC, nullptr};
}

nagaya_distribution general(const std::vector<int64_t>& begin) {
  return {begin.front(),
          begin.back() - 1,
          0,
          static_cast<uint32_t>(begin.size() - 1),
          NAGAYA_DISTRIBUTION_GENERAL,
          begin.data()};
}

// The coordinates of all indexes, "0 0 1 1" as digits.
std::string coordinates_of(const nagaya_distribution& of) {
  std::string text;
  for (int64_t i = of.low; i <= of.high; ++i) text += std::to_string(coordinate_of(of, i));
  return text;
}

TEST(Distribution, GivesBlocksOrRoundsOrSizesToTheCoordinates) {
  EXPECT_EQ(coordinates_of(block(0, 9, 4, 4)), "0000111122");
  EXPECT_EQ(coordinates_of(cyclic(5, 14, 2, 3)), "0011220011");
  EXPECT_EQ(coordinates_of(cyclic(-2, 3, 1, 4)), "012301");
  EXPECT_EQ(coordinates_of(general({0, 1, 7, 10})), "0111111222");
  EXPECT_EQ(coordinates_of(general({3, 3, 5, 5, 6, 6})), "113");
}

// Compares all functions with the definition of a place: the number of lower indexes.
void expect_places_are_counts_of_lower_indexes(const nagaya_distribution& of) {
  ASSERT_TRUE(is_valid(of));
  std::vector<std::vector<int64_t>> indexes(of.coordinates);
  for (int64_t i = of.low; i <= of.high; ++i) {
    std::vector<int64_t>& own = indexes.at(coordinate_of(of, i));
    EXPECT_EQ(place_of(of, i), static_cast<int64_t>(own.size()));
    for (uint32_t c = 0; c < of.coordinates; ++c)
      EXPECT_EQ(count_below(of, c, i), static_cast<int64_t>(indexes[c].size()));
    own.push_back(i);
  }
  for (uint32_t c = 0; c < of.coordinates; ++c) {
    const auto count = static_cast<int64_t>(indexes[c].size());
    EXPECT_EQ(count_of(of, c), count);
    EXPECT_EQ(count_below(of, c, of.low - 3), 0);
    EXPECT_EQ(count_below(of, c, of.high + 3), count);
    EXPECT_TRUE(is_empty(run_at(of, c, count)));
    for (int64_t place = 0; place < count; ++place) {
      EXPECT_EQ(index_at(of, c, place), indexes[c][static_cast<size_t>(place)]);
      const Interval run = run_at(of, c, place);
      const int64_t next = place + length_of(run);
      EXPECT_EQ(run.low, index_at(of, c, place));
      EXPECT_EQ(run.high, index_at(of, c, next - 1));
      EXPECT_TRUE(next == count || index_at(of, c, next) > run.high + 1);
    }
  }
}

TEST(Distribution, PlacesCountTheLowerIndexesOfACoordinate) {
  for (const int64_t low : {-3, 0, 4})
    for (int64_t indexes = 0; indexes < 14; ++indexes)
      for (uint32_t coordinates = 1; coordinates <= 5; ++coordinates)
        for (int64_t width = 1; width < 6; ++width) {
          const int64_t high = low + indexes - 1;
          expect_places_are_counts_of_lower_indexes(cyclic(low, high, width, coordinates));
          if (width * coordinates >= indexes)
            expect_places_are_counts_of_lower_indexes(block(low, high, width, coordinates));
        }
  for (const std::vector<int64_t>& begin :
       {std::vector<int64_t>{0, 1, 7, 10}, {3, 3, 5, 5, 6, 6}, {-4, 9}, {2, 2, 2}})
    expect_places_are_counts_of_lower_indexes(general(begin));
}

TEST(Distribution, SizesThatDoNotGiveEachIndexOneCoordinateAreNotValid) {
  const auto is_valid_with = [](std::vector<int64_t> begin) {
    return is_valid({0, 9, 0, 2, NAGAYA_DISTRIBUTION_GENERAL, begin.data()});
  };
  EXPECT_TRUE(is_valid_with({0, 10, 10}));
  EXPECT_FALSE(is_valid_with({0, 11, 10}));
  EXPECT_FALSE(is_valid_with({0, 4, 9}));
  EXPECT_FALSE(is_valid_with({1, 4, 10}));
  EXPECT_FALSE(is_valid_with({0, -1, 10}));
  EXPECT_FALSE(is_valid({0, 9, 0, 2, NAGAYA_DISTRIBUTION_GENERAL, nullptr}));
}

TEST(Distribution, RoundsThatEndBehindAllNumbersAreNotValid) {
  EXPECT_TRUE(is_valid(cyclic(0, 9, int64_t{1} << 60, 5)));
  EXPECT_FALSE(is_valid(cyclic(0, 9, int64_t{1} << 62, 5)));
  EXPECT_FALSE(is_valid(cyclic(INT64_MAX - 9, INT64_MAX, 1, 1)));
  EXPECT_FALSE(is_valid(cyclic(0, 9, 0, 2)));
}

TEST(Distribution, BlocksThatDoNotHoldAllIndexesAreNotValid) {
  EXPECT_TRUE(is_valid(block(0, 8, 3, 3)));
  EXPECT_FALSE(is_valid(block(0, 9, 3, 3)));
  EXPECT_FALSE(is_valid(block(0, 9, 0, 3)));
  EXPECT_FALSE(is_valid(block(0, 9, 10, 0)));
}

TEST(Distribution, BlocksThatEndBehindAllNumbersAreNotValid) {
  EXPECT_TRUE(is_valid(block(0, 9, int64_t{1} << 60, 5)));
  EXPECT_FALSE(is_valid(block(0, 9, int64_t{1} << 62, 5)));
  EXPECT_FALSE(is_valid(block(INT64_MAX - 9, INT64_MAX, 10, 1)));
  EXPECT_FALSE(is_valid(block(INT64_MIN, 9, 10, 1)));
}

TEST(Rounds, HaveTheIndexesOfALoopThatACoordinateHas) {
  for (const int64_t width : {1, 1, 2, 3})
    for (uint32_t coordinates = 1; coordinates <= 4; ++coordinates)
      for (const int64_t step : {1, 2, 3, 4, 7, -1, -2, -5})
        for (int64_t first = -2; first <= 9; ++first)
          for (int64_t last = -2; last <= 9; ++last) {
            if ((last - first) * step < 0 || (last - first) % step != 0) continue;
            const nagaya_distribution of = cyclic(-2, 9, width, coordinates);
            for (uint32_t c = 0; c < coordinates; ++c) {
              std::vector<int64_t> wanted, indexes;
              for (int64_t i = first; step > 0 ? i <= last : i >= last; i += step)
                if (coordinate_of(of, i) == c) wanted.push_back(i);
              const nagaya_rounds rounds = rounds_of_loop(of, c, first, last, step);
              for (int64_t n = rounds.first; step > 0 ? n < rounds.end : n > rounds.end;
                   n += rounds.step) {
                const int64_t low = of.low + (n * coordinates + c) * width;
                int64_t i = first, end = last + (step > 0 ? 1 : -1);
                clip_loop({low, low + width - 1}, step, i, end);
                EXPECT_TRUE(width > 1 || i != end);
                for (; step > 0 ? i < end : i > end; i += step) indexes.push_back(i);
              }
              EXPECT_EQ(indexes, wanted);
              if (step > 0) {
                EXPECT_EQ(has_index_in(of, c, first, last, step), !wanted.empty());
              }
            }
          }
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
