// SPDX-License-Identifier: BSD-3-Clause
#include "array/section_pieces.h"

#include <gtest/gtest.h>

#include <map>

namespace nagaya::array {
namespace {

Shape shape_with(const nagaya_distribution& distribution, int64_t extent, int64_t shadow = 0) {
  const nagaya_array_dimension dimension{extent, 0, distribution, 0, shadow, shadow};
  return Shape({4, 1, &dimension}, {nullptr, 1, &distribution.coordinates});
}

// Where each element of a section lies: {coordinate, position} by its number.
using Map = std::map<int64_t, std::pair<uint32_t, int64_t>>;

Map map_of(const std::vector<Piece>& pieces) {
  Map map;
  for (const Piece& piece : pieces)
    for (int64_t n = 0; n < piece.count; ++n)
      EXPECT_TRUE(map.insert({piece.first + n * piece.stride,
                              {piece.coordinate, piece.position + n * piece.position_stride}})
                      .second)
          << "two pieces have one element";
  return map;
}

TEST(SectionPieces, HaveEachElementOnceAtItsPosition) {
  constexpr int64_t kExtent = 37;
  const std::vector<int64_t> begin{0, 5, 5, 30, 37};
  for (const nagaya_distribution& distribution :
       {nagaya_distribution{0, 36, 10, 4, NAGAYA_DISTRIBUTION_BLOCK, nullptr},
        nagaya_distribution{0, 36, 1, 4, NAGAYA_DISTRIBUTION_CYCLIC, nullptr},
        nagaya_distribution{0, 36, 3, 4, NAGAYA_DISTRIBUTION_CYCLIC, nullptr},
        nagaya_distribution{0, 36, 0, 4, NAGAYA_DISTRIBUTION_GENERAL, begin.data()}})
    for (const int64_t shadow : {0, int{NAGAYA_ARRAY_FULL_SHADOW}}) {
      const Shape shape = shape_with(distribution, kExtent, shadow);
      for (int64_t first = 0; first < kExtent; first += 3)
        for (const int64_t step : {1, 2, 3, 5, 12, -1, -4})
          for (int64_t count = 1; count < 20; ++count) {
            const int64_t last = first + (count - 1) * step;
            if (last < 0 || last >= kExtent) break;
            const Map map = map_of(pieces_of(shape, 0, {first, count, step}));
            ASSERT_EQ(map.size(), static_cast<size_t>(count));
            for (const auto& [n, place] : map) {
              const int64_t index = first + n * step;
              EXPECT_EQ(place.first, shape.coordinate_of(0, index));
              EXPECT_EQ(place.second, shape.position_of(0, index));
            }
          }
    }
}

TEST(SectionPieces, OfACyclicDimensionAreAsManyAsItsCoordinates) {
  const Shape shape = shape_with({0, 9999, 1, 4, NAGAYA_DISTRIBUTION_CYCLIC, nullptr}, 10000);
  EXPECT_EQ(pieces_of(shape, 0, {0, 10000, 1}).size(), 4u);
}

TEST(SectionPieces, OverlapInTheElementsThatBothHave) {
  for (int64_t stride = 1; stride < 7; ++stride)
    for (int64_t other = 1; other < 7; ++other)
      for (int64_t first = 0; first < 9; ++first) {
        const Piece to{1, first, stride, 9, 100, 2}, from{2, 4, other, 11, 500, -3};
        const Map both_to = map_of({to}), both_from = map_of({from});
        std::vector<std::pair<int64_t, int64_t>> wanted, got;
        for (const auto& [n, place] : both_to)
          if (const auto found = both_from.find(n); found != both_from.end())
            wanted.push_back({place.second, found->second.second});
        Overlap overlap{};
        if (overlap_of(to, from, overlap))
          for (int64_t n = 0; n < overlap.count; ++n)
            got.push_back(
                {overlap.to + n * overlap.to_stride, overlap.from + n * overlap.from_stride});
        EXPECT_EQ(got, wanted) << stride << " " << other << " " << first;
      }
}

}  // namespace
}  // namespace nagaya::array
