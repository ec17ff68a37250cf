// SPDX-License-Identifier: BSD-3-Clause
#include "array/halo_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "array/fleet.h"
#include "array/grids.h"

namespace nagaya::array {
namespace {

using Widths = std::vector<nagaya_array_width>;

// The boxes of one step between two processes, in their order.
using Boxes = std::map<std::pair<uint32_t, uint32_t>,
                       std::vector<std::tuple<uint32_t, ptrdiff_t, ptrdiff_t, size_t>>>;

void expect_that_receives_are_sends(const Shape& shape, const Widths& widths, bool orthogonal) {
  std::vector<Boxes> receives, sends;
  for (uint32_t rank = 0; rank < shape.size(); ++rank) {
    const std::vector<HaloStep> plan = plan_halo(shape, rank, widths, orthogonal);
    receives.resize(plan.size());
    sends.resize(plan.size());
    for (size_t n = 0; n < plan.size(); ++n) {
      for (const Transfer& one : plan[n].receives)
        if (one.rank != rank)
          receives[n][{rank, one.rank}].emplace_back(one.side, one.to, one.from, one.box.bytes());
      for (const Transfer& one : plan[n].sends)
        sends[n][{one.rank, rank}].emplace_back(one.side, one.to, one.from, one.box.bytes());
    }
  }
  EXPECT_EQ(receives, sends);
}

TEST(HaloPlan, WhatOneReceivesTheOtherSends) {
  for (const bool orthogonal : {false, true})
    for (const int periodic : {0, 1}) {
      expect_that_receives_are_sends(shape_of({{10, 3, 2, 1}}), {{2, 1, periodic}}, orthogonal);
      expect_that_receives_are_sends(shape_of({{7, 4, 3, 3}, {9, 3, 1, 0}}),
                                     {{3, 2, periodic}, {1, 0, 1}}, orthogonal);
      expect_that_receives_are_sends(shape_of({{3, 5, 4, 4}, {4, 2, 1, 1}, {2, 2, 3, 3}}),
                                     {{4, 4, periodic}, {1, 1, 0}, {3, 2, 1}}, orthogonal);
    }
}

TEST(HaloPlan, ReceivesAreSendsBesideGeneralSizesAndRounds) {
  const int64_t begin[] = {0, 1, 1, 6, 7};
  const uint32_t extents[] = {4, 2};
  const nagaya_array_dimension dimensions[] = {
      {7, 0, {0, 6, 0, 4, NAGAYA_DISTRIBUTION_GENERAL, begin}, 0, 2, 1},
      {9, 1, {0, 9, 2, 2, NAGAYA_DISTRIBUTION_CYCLIC, nullptr}, 1, 0, 0}};
  const Shape shape({4, 2, dimensions}, {nullptr, 2, extents});
  for (const int periodic : {0, 1})
    expect_that_receives_are_sends(shape, {{2, 1, periodic}, {0, 0, 0}}, false);
  // Coordinate 2 of the rows reads row 0 of coordinate 0, but not of coordinate 1, which has none.
  const std::vector<HaloStep> plan = plan_halo(shape, 2 * 2, Widths{{1, 0, 0}, {0, 0, 0}}, false);
  ASSERT_EQ(plan[0].receives.size(), 1u);
  EXPECT_EQ(plan[0].receives[0].rank, 0u);
  EXPECT_EQ(plan[0].receives[0].box.bytes(), 5u * 4);  // indexes 0, 3, 4, 7, 8 of the second
}

TEST(HaloPlan, AnInnerProcessReadsOneBoxOfEachNeighbour) {
  const std::vector<HaloStep> plan =
      plan_halo(shape_of({{12, 3, 1, 1}, {8, 1, 0, 0}}), 1, Widths{{1, 1, 0}, {0, 0, 0}}, false);
  ASSERT_EQ(plan.size(), 1u);
  ASSERT_EQ(plan[0].receives.size(), 2u);
  EXPECT_EQ(plan[0].receives[0].rank, 0u);
  EXPECT_EQ(plan[0].receives[1].rank, 2u);
  EXPECT_TRUE(plan[0].receives[0].box.is_one_run());
  EXPECT_EQ(plan[0].receives[0].box.bytes(), 8u * 4);
  EXPECT_EQ(plan[0].sends.size(), 2u);
}

TEST(HaloPlan, TheFirstProcessReadsTheLastOneIfThatIsPeriodic) {
  const Shape shape = shape_of({{12, 3, 1, 0}});
  EXPECT_TRUE(plan_halo(shape, 0, Widths{{1, 0, 0}}, false)[0].receives.empty());
  const std::vector<HaloStep> plan = plan_halo(shape, 0, Widths{{1, 0, 1}}, false);
  ASSERT_EQ(plan[0].receives.size(), 1u);
  EXPECT_EQ(plan[0].receives[0].rank, 2u);
}

TEST(HaloPlan, AWideShadowIsReadFromSeveralProcesses) {
  const std::vector<HaloStep> plan =
      plan_halo(shape_of({{6, 6, 3, 0}}), 4, Widths{{3, 0, 0}}, false);
  ASSERT_EQ(plan[0].receives.size(), 3u);
  for (uint32_t n = 0; n < 3; ++n) EXPECT_EQ(plan[0].receives[n].rank, n + 1);
}

TEST(HaloPlan, AProcessWithoutIndexesNeitherReceivesNorSends) {
  const std::vector<HaloStep> plan =
      plan_halo(shape_of({{4, 3, 1, 1}, {2, 3, 1, 1}}), 2, Widths{{1, 1, 1}, {1, 1, 1}}, false);
  ASSERT_EQ(plan.size(), 2u);
  for (const HaloStep& step : plan) EXPECT_TRUE(step.receives.empty() && step.sends.empty());
}

void expect_whole_arrays(const Shape& shape, const Widths& widths) {
  Fleet fleet(shape, -1);
  std::vector<std::vector<HaloStep>> plans;
  const auto value_of = [](const Index& index) {
    return static_cast<int32_t>(100 * index[0] + index[1]);
  };
  for (uint32_t rank = 0; rank < shape.size(); ++rank) {
    plans.push_back(plan_halo(shape, rank, widths, false));
    Fleet::for_each(fleet.intervals(rank, &Shape::owned),
                    [&](const Index& index) { fleet.at(rank, index) = value_of(index); });
  }
  for (size_t step = 0; step < plans[0].size(); ++step) fleet.execute(plans, step);
  for (uint32_t rank = 0; rank < shape.size(); ++rank)
    Fleet::for_each(fleet.intervals(rank, &Shape::with_shadow), [&](const Index& index) {
      EXPECT_EQ(fleet.at(rank, index), value_of(index)) << rank;
    });
}

TEST(HaloPlan, FullShadowsMakeEachBlockTheWholeArray) {
  expect_whole_arrays(shape_of({{7, 3, kFull, kFull}, {5, 2, kFull, kFull}}),
                      {{7, 7, 0}, {5, 5, 0}});
  // Some processes own nothing.
  expect_whole_arrays(shape_of({{3, 5, kFull, kFull}, {2, 4, kFull, kFull}}),
                      {{3, 3, 0}, {2, 2, 0}});
}

TEST(HaloPlan, AFullShadowBesideADimensionWithoutOne) {
  expect_whole_arrays(shape_of({{7, 3, 0, 0}, {5, 2, kFull, kFull}}), {{0, 0, 0}, {5, 5, 0}});
}

TEST(HaloPlan, AllWidthsNoneMeansNoStep) {
  EXPECT_TRUE(plan_halo(shape_of({{4, 2, 1, 1}}), 0, Widths{{0, 0, 1}}, false).empty());
}

TEST(HaloPlan, LaterStepsReachIntoTheShadowThatIsFilledUnlessOrthogonal) {
  const Shape shape = shape_of({{6, 2, 2, 2}, {6, 2, 1, 1}});
  const Widths widths{{2, 2, 0}, {1, 1, 0}};
  const std::vector<HaloStep> corners = plan_halo(shape, 0, widths, false);
  ASSERT_EQ(corners.size(), 2u);
  EXPECT_EQ(corners[1].receives[0].box.bytes(), (3u + 2) * 4);  // no shadow beside the first row
  const std::vector<HaloStep> none = plan_halo(shape, 0, widths, true);
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(none[0].receives[1].box.bytes(), 3u * 4);
}

}  // namespace
}  // namespace nagaya::array
