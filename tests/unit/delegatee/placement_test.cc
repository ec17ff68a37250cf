// SPDX-License-Identifier: BSD-3-Clause
// Placements on machines that hwloc makes up, or reads from a file. (The binding needs a
// machine that has the nodes.)
#include "delegatee/placement.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>

namespace nagaya::delegatee {
namespace {

class Machine {
 public:
  explicit Machine(const char* description, const char* variable = "HWLOC_SYNTHETIC") {
    ::setenv(variable, description, 1);
    placement_.emplace();
    ::unsetenv(variable);
  }
  uint32_t delegatees(uint32_t tasks) const { return placement_->delegation(tasks).delegatees; }
  int node_of_delegatee(uint32_t n, const std::string& device = "") const {
    return placement_->node_of_delegatee(n, device);
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

// ---- delegatees --------------------------------------------------------------------------------

TEST(Delegation, IsOneDelegateeOnASmallMachineWhateverTheNumberOfTasks) {
  const Machine machine("core:2 pu:1");
  EXPECT_EQ(machine.delegatees(0), 1u);
  EXPECT_EQ(machine.delegatees(1), 1u);
  EXPECT_EQ(machine.delegatees(4096), 1u);
}

TEST(Delegation, IsOneDelegateeForEachDomainIfThereAreTasksEnough) {
  const Machine two("pack:2 [numa] core:24 pu:2");
  EXPECT_EQ(two.delegatees(0), 1u) << "the number of tasks is not known";
  EXPECT_EQ(two.delegatees(48), 1u);
  EXPECT_EQ(two.delegatees(64), 2u);
  EXPECT_EQ(two.delegatees(4096), 2u);
  const Machine eight("pack:8 [numa] core:16 pu:1");
  EXPECT_EQ(eight.delegatees(128), 4u);
  EXPECT_EQ(eight.delegatees(256), 8u);
}

TEST(Delegation, IsAPowerOfTwoOfAtMostEight) {
  EXPECT_EQ(Machine("pack:3 [numa] core:32 pu:1").delegatees(96), 2u);
  EXPECT_EQ(Machine("pack:16 [numa] core:16 pu:1").delegatees(4096), 8u);
}

TEST(Delegation, CountsTheCoresOfLargeDomains) {
  EXPECT_EQ(Machine("core:127 pu:2").delegatees(127), 1u);
  EXPECT_EQ(Machine("core:128 pu:1").delegatees(128), 2u);
  EXPECT_EQ(Machine("pack:2 [numa] core:128 pu:1").delegatees(256), 4u);
}

TEST(Delegation, CountsAMemoryNodeOnlyIfItHasProcessorsOfItsOwn) {
  const Machine machine("[numa] pack:2 [numa] [numa] core:8 pu:1");
  EXPECT_EQ(machine.delegatees(4096), 2u);
  const int first = machine.node_of_delegatee(0), second = machine.node_of_delegatee(1);
  EXPECT_EQ(machine.node_of(0x00ff), first);
  EXPECT_EQ(machine.node_of(0xff00), second);
}

TEST(Delegation, SpreadsDelegateesOverTheDomains) {
  const Machine machine("pack:2 [numa] core:128 pu:1");
  const int nodes[] = {0, 1, 0, 1};
  for (uint32_t n = 0; n < 4; ++n) EXPECT_EQ(machine.node_of_delegatee(n), nodes[n]);
  EXPECT_EQ(Machine("core:128 pu:1").node_of_delegatee(1), -1);
}

// Two sockets of two cores. The network card is near to the second one, a virtual device to none.
TEST(Delegation, BeginsWithTheDomainsNearToANetworkDevice) {
  const std::string file = std::string(NAGAYA_TEST_DATA) + "/card_of_second_socket.xml";
  const Machine machine(file.c_str(), "HWLOC_XMLFILE");
  EXPECT_EQ(machine.node_of_delegatee(0), 1);
  EXPECT_EQ(machine.node_of_delegatee(1), 0);
  EXPECT_EQ(machine.delegatees(64), 2u);
}

TEST(Delegation, BindsADelegateeNearToTheDeviceThatItUses) {
  const std::string file = std::string(NAGAYA_TEST_DATA) + "/card_of_second_socket.xml";
  const Machine machine(file.c_str(), "HWLOC_XMLFILE");
  EXPECT_EQ(machine.node_of_delegatee(1, "eth0"), 1);
  EXPECT_EQ(machine.node_of_delegatee(1, "virbr0"), 0) << "it is near to none: in turns";
  EXPECT_EQ(machine.node_of_delegatee(1, "eth9"), 0);
}

}  // namespace
}  // namespace nagaya::delegatee
