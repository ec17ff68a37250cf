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

// ---- atomics behind their lane's earlier commands ----

class Behind : public Order {
 protected:
  explicit Behind(const fabric::FaultPlan& plan = {.seed = 3,
                                                   .refuse_percent = 10,
                                                   .delay_polls_max = 20})
      : Order({}, plan) {
    counter_region = fleet[1].regions.add(0, reinterpret_cast<std::byte*>(&counter), 8);
  }
  Command add_behind() {
    Command command =
        atomic(llcl::Atomic::kAdd, llcl::Type::kUint64, {1, 0, counter_region}, nullptr, 1);
    command.op = Op::kAtomicBehind;
    return command;
  }
  void await_count(uint64_t count) {
    ASSERT_TRUE(soon([&] { return std::atomic_ref(counter).load() == count; }));
  }

  alignas(8) uint64_t counter = 0;
  uint32_t counter_region;
};

TEST_F(Behind, AnAtomicIsSeenAfterTheDataOfAllEarlierWrites) {
  fleet.start();
  std::vector<llcl::Piece> pieces;
  for (size_t n = 0; n < 60000; n += 1000)
    pieces.push_back({reinterpret_cast<uint64_t>(&local[n]), n, 999, 1, 0, 0});
  for (uint64_t round = 1; round <= 200; ++round) {
    std::fill(local.begin(), local.end(), std::byte(round));
    uint64_t done = 0;
    const size_t bytes = round % 2 == 0 ? 100000 : 2000;
    const size_t seen = round % 4 == 1 ? 59998 : bytes - 1;
    if (round % 4 == 1) {
      fleet[0].push(0, counted(of_pieces(Op::kPutPieces, {1, 0, region}, pieces), done));
    } else {
      fleet[0].push(0, counted(put(1, bytes), done));
    }
    fleet[0].push(0, counted(add_behind(), done));
    await_count(round);
    EXPECT_EQ(std::atomic_ref(reinterpret_cast<unsigned char&>(memory[1][seen])).load(),
              static_cast<unsigned char>(round));
    ASSERT_TRUE(soon([&] { return counts(done) == std::pair(uint64_t{2}, false); }));
  }
}

TEST_F(Behind, AnAtomicIsSeenAfterAllEarlierReads) {
  fleet.start();
  for (uint64_t round = 1; round <= 200; ++round) {
    std::fill(memory[1].begin(), memory[1].end(), std::byte(round));
    uint64_t done = 0;
    const size_t bytes = round % 2 == 0 ? 100000 : 2000;
    fleet[0].push(0, counted(transfer(Op::kGet, {1, 0, region}, local.data(), bytes), done));
    fleet[0].push(0, counted(add_behind(), done));
    await_count(round);
    std::fill(memory[1].begin(), memory[1].end(), std::byte(0xff));
    ASSERT_TRUE(soon([&] { return counts(done) == std::pair(uint64_t{2}, false); }));
    EXPECT_EQ(local[bytes - 1], std::byte(round));
  }
}

TEST_F(Behind, AnAtomicBehindALargeWriteEndsWithTheErrorOfItsNode) {
  fleet.network.pause_link(0, 1);
  fleet.start();
  Flag large, behind, fenced;
  fleet[0].push(0, flagged(put(1, 100000), large));
  fleet[0].push(0, flagged(add_behind(), behind));
  fleet[0].push(0, flagged(fence(1), fenced));
  fleet[1].stop();
  EXPECT_LT(large.wait(), 0);
  EXPECT_LT(behind.wait(), 0);
  EXPECT_LT(fenced.wait(), 0);
  EXPECT_EQ(counter, 0u);
}

// One message carries a small write and the atomic behind it: nobody waits in between.
class BehindByHand : public Behind {
 protected:
  BehindByHand() : Behind(fabric::FaultPlan{}) {}
};

TEST_F(BehindByHand, AnAtomicLeavesWithTheSmallWritesBeforeIt) {
  uint64_t done = 0;
  fleet[0].push(0, counted(put(1), done));
  fleet[0].push(0, counted(add_behind(), done));
  for (int n = 0; n < 10; ++n) fleet.round();
  EXPECT_EQ(counts(done).first, 2u);
  EXPECT_EQ(counter, 1u);
  EXPECT_EQ(fleet[0].delegatee.batches(), 1u);
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
