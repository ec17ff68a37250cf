// SPDX-License-Identifier: BSD-3-Clause
#include "task/host/stop_choice.h"

#include <gtest/gtest.h>

namespace nagaya::task {
namespace {

TEST(StopChoice, NamesAStepAndMayCountPassages) {
  const auto first = parse_stop_choice("host.cloned");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->point, StopPoint::kHostCloned);
  EXPECT_EQ(first->passages, 1U);
  const auto later = parse_stop_choice("lane.marked:500");
  ASSERT_TRUE(later);
  EXPECT_EQ(later->point, StopPoint::kLaneMarked);
  EXPECT_EQ(later->passages, 500U);
}

TEST(StopChoice, EveryStepHasItsName) {
  ASSERT_EQ(std::size(kStopPointNames), static_cast<size_t>(StopPoint::kOperandsRead) + 1);
  for (size_t n = 0; n < std::size(kStopPointNames); ++n)
    EXPECT_EQ(static_cast<size_t>(parse_stop_choice(kStopPointNames[n])->point), n);
}

TEST(StopChoice, RefusesWhatIsNoStepAndNoCount) {
  for (const char* text : {"", "host", "host.cloned ", "host.cloned:", "host.cloned:0",
                           "host.cloned:x", "host.cloned:1x"})
    EXPECT_FALSE(parse_stop_choice(text)) << text;
}

}  // namespace
}  // namespace nagaya::task
