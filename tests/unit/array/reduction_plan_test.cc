// SPDX-License-Identifier: BSD-3-Clause
#include "array/reduction_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "array/fleet.h"
#include "array/grids.h"

namespace nagaya::array {
namespace {

using Widths = std::vector<nagaya_array_width>;

void add(void*, const void* in, void* inout, size_t count) {
  for (size_t n = 0; n < count; ++n)
    static_cast<int32_t*>(inout)[n] += static_cast<const int32_t*>(in)[n];
}

std::vector<std::vector<HaloStep>> plans_of(const Shape& shape, const Widths& widths,
                                            bool orthogonal) {
  std::vector<std::vector<HaloStep>> plans;
  for (uint32_t rank = 0; rank < shape.size(); ++rank)
    plans.push_back({plan_reduction(shape, rank, widths, orthogonal, add)});
  return plans;
}

// The number by which an element of a rank's block and shadow counts in sums.
int32_t value_of(uint32_t rank, const Index& index) {
  return static_cast<int32_t>(1 + rank + 10 * (index[0] + 20) + 1000 * (index[1] + 20));
}

// Returns how many dimensions of the index lie in the rank's shadow of these widths; -1: the index
// is in no part that counts.
int shadows_of(const Shape& shape, uint32_t rank, const Widths& widths, const Index& index) {
  int shadows = 0;
  for (size_t d = 0; d < shape.dimensions(); ++d) {
    const Interval own = shape.owned(d, shape.coordinate_of_rank(d, rank));
    const int64_t extent = shape.dimension(d).extent;
    if (is_empty(own) && !shape.has_full_shadow(d)) return -1;
    if (index[d] >= own.low && index[d] <= own.high) continue;
    const bool is_beside =
        index[d] >= own.low - widths[d].low && index[d] <= own.high + widths[d].high;
    if (!is_beside && !(is_empty(own) && widths[d].low > 0)) return -1;
    if (widths[d].periodic == 0 && (index[d] < 0 || index[d] >= extent)) return -1;
    ++shadows;
  }
  return shadows;
}

// Adds each element of each shadow to its place in `sums`, by the index alone.
std::map<std::pair<int64_t, int64_t>, int32_t> sums_of(const Shape& shape, Fleet& fleet,
                                                       const Widths& widths, bool orthogonal) {
  std::map<std::pair<int64_t, int64_t>, int32_t> sums;
  for (uint32_t rank = 0; rank < shape.size(); ++rank)
    Fleet::for_each(fleet.intervals(rank, &Shape::with_shadow), [&](const Index& index) {
      const int shadows = shadows_of(shape, rank, widths, index);
      if (shadows < 0 || (orthogonal && shadows > 1)) return;
      const int64_t rows = shape.dimension(0).extent, columns = shape.dimension(1).extent;
      sums[{(index[0] + 3 * rows) % rows, (index[1] + 3 * columns) % columns}] +=
          fleet.at(rank, index);
    });
  return sums;
}

void expect_sums(const Shape& shape, const Widths& widths, bool orthogonal) {
  Fleet fleet(shape, 0);
  for (uint32_t rank = 0; rank < shape.size(); ++rank)
    Fleet::for_each(fleet.intervals(rank, &Shape::with_shadow),
                    [&](const Index& index) { fleet.at(rank, index) = value_of(rank, index); });
  auto sums = sums_of(shape, fleet, widths, orthogonal);
  fleet.execute(plans_of(shape, widths, orthogonal), 0);
  for (uint32_t rank = 0; rank < shape.size(); ++rank)
    Fleet::for_each(fleet.intervals(rank, &Shape::with_shadow), [&](const Index& index) {
      const bool is_own = shadows_of(shape, rank, widths, index) == 0;
      const std::pair place{index[0], index[1]};
      EXPECT_EQ(fleet.at(rank, index), is_own ? sums[place] : value_of(rank, index))
          << rank << ": " << index[0] << ", " << index[1];
    });
}

TEST(ReductionPlan, EachShadowIsAddedToTheBlockThatHasItsIndexes) {
  for (const bool orthogonal : {false, true})
    for (const int periodic : {0, 1}) {
      expect_sums(shape_of({{10, 3, 2, 1}, {4, 1, 0, 0}}), {{2, 1, periodic}, {0, 0, 0}},
                  orthogonal);
      expect_sums(shape_of({{7, 4, 3, 3}, {9, 3, 1, 0}}), {{3, 2, periodic}, {1, 0, 1}},
                  orthogonal);
      expect_sums(shape_of({{3, 5, 4, 4}, {4, 2, 1, 1}}), {{2, 3, periodic}, {1, 1, 0}},
                  orthogonal);
      expect_sums(shape_of({{4, 1, 2, 2}, {4, 1, 1, 1}}), {{2, 2, periodic}, {1, 1, 1}},
                  orthogonal);
    }
}

TEST(ReductionPlan, AFullShadowIsAddedToAllBlocks) {
  expect_sums(shape_of({{5, 4, kFull, kFull}, {4, 2, kFull, kFull}}), {{5, 5, 0}, {4, 4, 0}},
              false);
  expect_sums(shape_of({{8, 4, kFull, kFull}, {3, 2, 1, 0}}), {{8, 8, 0}, {1, 0, 1}}, false);
}

TEST(ReductionPlan, WhatOneReceivesTheOtherSendsInOneOrder) {
  const Shape shape = shape_of({{7, 4, 3, 3}, {9, 3, 1, 1}});
  using Boxes = std::map<std::pair<uint32_t, uint32_t>,
                         std::vector<std::tuple<ptrdiff_t, ptrdiff_t, size_t>>>;
  Boxes receives, sends;
  const auto plans = plans_of(shape, {{3, 3, 1}, {1, 1, 1}}, false);
  for (uint32_t rank = 0; rank < shape.size(); ++rank) {
    for (const Transfer& one : plans[rank][0].receives)
      if (one.rank != rank)
        receives[{rank, one.rank}].emplace_back(one.to, one.from, one.box.bytes());
    for (const Transfer& one : plans[rank][0].sends)
      sends[{one.rank, rank}].emplace_back(one.to, one.from, one.box.bytes());
  }
  EXPECT_EQ(receives, sends);
}

}  // namespace
}  // namespace nagaya::array
