// SPDX-License-Identifier: BSD-3-Clause
// Fences, credit, and the traffic that a slow node may and may not stop.
#include "delegatee/fleet.h"

namespace nagaya::delegatee {
namespace {

class Order : public ::testing::Test {
 protected:
  static constexpr uint32_t kNodes = 3;
  explicit Order(const Options& options = {}, const fabric::FaultPlan& plan = {})
      : memory(kNodes, Bytes(1 << 17)), local(1 << 17), fleet(kNodes, options, plan) {
    for (uint32_t node = 0; node < kNodes; ++node)
      region = fleet[node].regions.add(0, memory[node].data(), memory[node].size());
  }
  Command put(uint32_t node, size_t bytes = 8) {
    return transfer(Op::kPut, {node, 0, region}, local.data(), bytes);
  }
  Command fence(uint32_t node) { return command_to({node, 0, 0}, Op::kFence); }

  std::vector<Bytes> memory;
  Bytes local;
  Fleet fleet;
  uint32_t region;
};

class OrderWithDelays : public Order {
 protected:
  OrderWithDelays() : Order({}, {.seed = 7, .refuse_percent = 10, .delay_polls_max = 20}) {}
};

TEST_F(OrderWithDelays, AFenceCompletesAfterEverythingBeforeItInItsLane) {
  fleet.start();
  for (int round = 0; round < 30; ++round) {
    Flag before[6], fenced;
    const size_t sizes[] = {8, 100000, 4096, 1, 50000, 8};
    for (int n = 0; n < 6; ++n) fleet[0].push(0, flagged(put(1, sizes[n]), before[n]));
    fleet[0].push(0, flagged(fence(1), fenced));
    uint64_t later = 0;
    for (int n = 0; n < 3; ++n) fleet[0].push(0, counted(put(1, 100000), later));
    ASSERT_EQ(fenced.wait(), 0);
    for (Flag& flag : before) EXPECT_EQ(flag.now(), 1);
    ASSERT_TRUE(soon([&] { return counts(later).first == 3; }));
  }
}

TEST_F(Order, AFenceWaitsForItsOwnLaneAndItsOwnNodeOnly) {
  fleet.network.pause_link(0, 1);
  fleet.start();
  Flag stuck, same, second, other_lane, other_node;
  fleet[0].push(0, flagged(put(1), stuck));
  fleet[0].push(0, flagged(fence(1), same));
  fleet[0].push(0, flagged(fence(1), second));
  fleet[0].push(0, flagged(fence(2), other_node));
  fleet[0].push(1, flagged(fence(1), other_lane));
  EXPECT_EQ(other_lane.wait(), 0);
  EXPECT_EQ(other_node.wait(), 0);
  EXPECT_EQ(same.now(), 0);
  fleet.network.resume_link(0, 1);
  EXPECT_EQ(same.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
  EXPECT_EQ(stuck.now(), 1);
}

class Credit : public Order {
 protected:
  Credit() : Order({.credit_commands = 50, .pending_max = 30}) { fleet.network.pause_link(0, 1); }
};

TEST_F(Credit, ANodeThatAnswersNothingGetsNoMoreThanItsCredit) {
  // By hand: nodes 0 and 1; commands accepted beyond credit and pending_max stay in the lanes.
  uint64_t done = 0;
  for (int n = 0; n < 200; ++n) fleet[0].push(0, counted(put(1), done));
  for (int n = 0; n < 50; ++n) fleet[0].delegatee.round();
  EXPECT_EQ(fleet[0].lanes[0].lag(), 200u - 96u);  // 80 accepted, 16 of the third batch held
  EXPECT_EQ(fleet[0].delegatee.batches(), 1u);     // of 50 records
  fleet.network.resume_link(0, 1);
  for (int n = 0; n < 50; ++n) fleet.round();
  EXPECT_EQ(counts(done).first, 200u);
}

TEST_F(Credit, ASlowNodeStopsNeitherOtherLanesNorTheFirstCommandsBehindItsOwn) {
  fleet.start();
  uint64_t slow = 0, behind = 0;
  for (int n = 0; n < 40; ++n) {
    fleet[0].push(0, counted(put(1), slow));
    fleet[0].push(0, counted(put(2), behind));
  }
  EXPECT_TRUE(soon([&] { return counts(behind).first == 40; }));
  for (int n = 0; n < 200; ++n) fleet[0].push(1, counted(put(1), slow));
  for (int n = 0; n < 300; ++n) {
    Flag flag;
    fleet[0].push(2, flagged(put(2, n % 2 ? 8 : 10000), flag));
    ASSERT_EQ(flag.wait(), 0);
  }
  EXPECT_EQ(counts(slow).first, 0u);
  fleet.network.resume_link(0, 1);
  EXPECT_TRUE(soon([&] { return counts(slow).first == 240; }));
}

TEST_F(Credit, ANodeMayAskWhileItOwesAnswers) {
  fleet.network.resume_link(0, 1);
  fleet.start();
  uint64_t done[kNodes] = {};
  std::vector<std::thread> threads;
  for (uint32_t node = 0; node < kNodes; ++node)
    threads.emplace_back([&, node] {
      Bytes mine(3000);
      for (uint32_t n = 0; n < 1000; ++n)
        fleet[node].push(n % 4, counted(transfer(Op::kGet, {(node + 1 + n % 2) % kNodes, 0, region},
                                                 mine.data(), mine.size()),
                                        done[node]));
      EXPECT_TRUE(soon([&] { return counts(done[node]).first == 1000; }));
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace nagaya::delegatee
