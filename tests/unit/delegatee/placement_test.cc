// SPDX-License-Identifier: BSD-3-Clause
// What is decided on machines that hwloc makes up. (The binding needs a machine that has the
// nodes.)
#include "delegatee/placement.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

namespace nagaya::delegatee {
namespace {

class Machine {
 public:
  explicit Machine(const char* description) {
    ::setenv("HWLOC_SYNTHETIC", description, 1);
    placement_.emplace();
    ::unsetenv("HWLOC_SYNTHETIC");
  }
  int node_of(uint64_t low, uint64_t high = 0) const {
    return placement_->node_of(std::array{low, high});
  }

 private:
  std::optional<Placement> placement_;
};

TEST(Placement, IsTheMemoryNodeOfTheTasksProcessors) {
  const Machine machine("pack:2 [numa] core:4 pu:1");
  EXPECT_EQ(machine.node_of(0b0001), 0);
  EXPECT_EQ(machine.node_of(0b1111), 0);
  EXPECT_EQ(machine.node_of(0b0010'0000), 1);
  EXPECT_EQ(machine.node_of(0b1111'0000), 1);
}

TEST(Placement, IsLeftToTheFirstTouchOfATaskThatMayRunOnSeveralNodes) {
  const Machine machine("pack:4 [numa] core:2 pu:1");
  EXPECT_EQ(machine.node_of(0b1111'1111), -1);
  EXPECT_EQ(machine.node_of(0b0110), -1);
  EXPECT_EQ(machine.node_of(0), -1);
}

TEST(Placement, IsLeftToTheFirstTouchOnAMachineWithOneNode) {
  const Machine machine("core:4 pu:1");
  EXPECT_EQ(machine.node_of(0b0001), -1);
}

TEST(Placement, PrefersANearNodeToOneThatAllProcessorsShare) {
  const Machine machine("[numa] pack:2 [numa] core:2 pu:1");
  const int first = machine.node_of(0b0011), second = machine.node_of(0b1100);
  EXPECT_GE(first, 0);
  EXPECT_GE(second, 0);
  EXPECT_NE(first, second);
  EXPECT_EQ(machine.node_of(0b0110), -1);
}

TEST(Placement, KnowsProcessorsBeyondTheFirstWord) {
  const Machine machine("pack:2 [numa] core:64 pu:1");
  EXPECT_EQ(machine.node_of(1, 0), 0);
  EXPECT_EQ(machine.node_of(0, 1), 1);
  EXPECT_EQ(machine.node_of(1, 1), -1);
}

}  // namespace
}  // namespace nagaya::delegatee
