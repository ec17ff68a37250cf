// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/fleet.h"
#include "llcl/board/message.h"
#include "llcl/board/port_cell.h"

namespace nagaya::delegatee {
namespace {

// Nothing moves by itself here: the test looks for the delegatees.
class Aggregation : public ::testing::Test {
 protected:
  Aggregation() : fleet(3), memory(1 << 16) {
    for (uint32_t node = 1; node < 3; ++node)
      region = fleet[node].regions.add(0, memory.data(), memory.size());
  }
  Command add_one(uint32_t node) {
    return counted(atomic(llcl::Atomic::kAdd, llcl::Type::kUint64, {node, 0, region}, nullptr, 1),
                   done);
  }
  uint64_t sent(uint32_t node) { return fleet[node].delegatee.batches(); }

  Fleet fleet;
  Bytes memory;
  uint32_t region;
  uint64_t done = 0;
};

TEST_F(Aggregation, SixtyFourCommandsOfManyLanesAreOneMessageAndOneAnswer) {
  for (uint32_t n = 0; n < 64; ++n) fleet[0].push(n % 8, add_one(1));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(counts(done).first, 64u);
  EXPECT_EQ(sent(0), 1u);
  EXPECT_EQ(sent(1), 1u);
}

TEST_F(Aggregation, CompletionsOfACounterInARowRingOnceAndTheTargetWakesOnce) {
  for (uint32_t n = 0; n < 64; ++n) fleet[0].push(2, add_one(1));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(counts(done).first, 64u);
  EXPECT_EQ(fleet[0].delivery.wakes[2].load(), 1u);
  EXPECT_EQ(fleet[1].delivery.wakes[0].load(), 1u);
}

// The task that is woken may take the delegatee's processor.
TEST_F(Aggregation, AnAnswerLeavesBeforeTheTargetIsWoken) {
  uint64_t answered = 0;
  fleet[1].delivery.at_wake = [&] {
    fleet[0].delegatee.round();
    answered = counts(done).first;
  };
  fleet[0].push(2, add_one(1));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(fleet[1].delivery.wakes[0].load(), 1u);
  EXPECT_EQ(answered, 1u);
}

TEST_F(Aggregation, AnAtomicThatOnlyAsksForTheWordWakesNobody) {
  uint64_t word = 7;
  fleet[0].push(
      2, counted(atomic(llcl::Atomic::kAdd, llcl::Type::kUint64, {1, 0, region}, &word, 0), done));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(counts(done).first, 1u);
  EXPECT_EQ(word, 0u);
  EXPECT_EQ(fleet[1].delivery.wakes[0].load(), 0u);
}

TEST_F(Aggregation, EveryTaskThatAwaitsACounterIsWoken) {
  for (uint32_t n = 0; n < 64; ++n) fleet[0].push(n % 8, add_one(1));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(counts(done).first, 64u);
  for (uint32_t task = 0; task < 8; ++task) EXPECT_GE(fleet[0].delivery.wakes[task].load(), 1u);
}

TEST_F(Aggregation, ACounterGoesOnBeyond32BitsWithoutAnError) {
  done = UINT32_MAX - 1;
  for (uint32_t n = 0; n < 9; ++n) fleet[0].push(0, add_one(1));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(counts(done), (std::pair<uint64_t, bool>{uint64_t{UINT32_MAX} + 8, false}));
}

TEST_F(Aggregation, AFailureAmongThemIsSaid) {
  Command wrong = add_one(1);
  wrong.region = 77;
  for (uint32_t n = 0; n < 9; ++n) fleet[0].push(0, n % 3 == 1 ? wrong : add_one(1));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(counts(done), (std::pair<uint64_t, bool>{9, true}));
}

TEST_F(Aggregation, ACounterIsCompleteBeforeTheFlagOfTheFenceBehindIt) {
  Flag flag;
  fleet[0].delivery.at_wake = [&] {
    if (flag.now() != 0) {
      EXPECT_EQ(counts(done).first, 10u);
    }
  };
  for (uint32_t n = 0; n < 10; ++n) fleet[0].push(0, add_one(1));
  fleet[0].push(0, flagged(command_to({1, 0, 0}, Op::kFence), flag));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(flag.now(), 1);
}

TEST_F(Aggregation, CommandsAreSortedByNode) {
  for (uint32_t n = 0; n < 60; ++n) fleet[0].push(0, add_one(1 + n % 2));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(counts(done).first, 60u);
  EXPECT_EQ(sent(0), 2u);
}

TEST_F(Aggregation, AMessageHolds32KibibytesAtMost) {
  Bytes local(4000);
  for (int n = 0; n < 9; ++n)
    fleet[0].push(0, counted(transfer(Op::kPut, {1, 0, region}, local.data(), 4000), done));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(counts(done).first, 9u);
  EXPECT_EQ(sent(0), 2u);
}

TEST_F(Aggregation, ALoneCommandLeavesAtOnce) {
  fleet[0].push(0, add_one(1));
  fleet[0].delegatee.round();
  EXPECT_EQ(sent(0), 1u);
}

TEST_F(Aggregation, NothingPendingMeansNoTraffic) {
  fleet[0].push(0, add_one(1));
  for (int n = 0; n < 4; ++n) fleet.round();
  ASSERT_EQ(counts(done).first, 1u);
  for (int n = 0; n < 1000; ++n) fleet.round();
  EXPECT_EQ(sent(0) + sent(1) + sent(2), 2u);
}

// ---- answers to what tells a task something ----------------------------------------------------

class Telling : public Aggregation {
 protected:
  // A put with notification, which the other node has carried out and not answered.
  Telling() {
    counters = fleet[1].regions.add(0, reinterpret_cast<std::byte*>(told), sizeof told);
    fleet[0].push(0, flagged(put_notify({1, 0, region}, local, 8, {1, 0, counters}), flag));
    fleet.round();
    EXPECT_EQ(told[0], 1u);
  }

  std::byte local[8] = {};
  uint64_t told[1] = {};
  uint32_t counters;
  Flag flag;
};

TEST_F(Telling, IsAnsweredTogetherWithWhatTheTaskSaysToIt) {
  fleet[1].delegatee.round();
  EXPECT_EQ(sent(1), 0u);
  uint64_t word = 0, told_back = 0;
  const uint32_t back = fleet[0].regions.add(0, reinterpret_cast<std::byte*>(&word), sizeof word);
  fleet[1].push(0, counted(with_payload(Op::kPut, {0, 0, back}, "an answer", 8), told_back));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(sent(1), 1u);
  EXPECT_EQ(flag.now(), 1);
  EXPECT_EQ(counts(told_back).first, 1u);
}

TEST_F(Telling, IsAnsweredARoundLaterAnyway) {
  fleet[1].delegatee.round();
  EXPECT_EQ(sent(1), 0u);
  fleet[1].delegatee.round();
  EXPECT_EQ(sent(1), 1u);
}

// ---- receipts of two-sided messages ------------------------------------------------------------

constexpr uint64_t kForEver = UINT64_MAX;

Command to_port(uint32_t node) {
  return with_payload(Op::kActiveMessage, {node, 0, llcl::kPortHandlers}, "hello, port here!", 17);
}

TEST(Receipts, LeaveWithWhateverElseGoesToTheNode) {
  Fleet fleet(2, Options{.receipts_wait_ns = kForEver});
  Flag there, back;
  fleet[0].push(0, flagged(to_port(1), there));
  for (int n = 0; n < 100; ++n) fleet.round();
  EXPECT_EQ(fleet[1].delegatee.batches(), 0u);
  EXPECT_EQ(there.now(), 0);
  fleet[1].push(0, flagged(to_port(0), back));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(fleet[1].delegatee.batches(), 1u);
  EXPECT_EQ(there.now(), 1);
}

TEST(Receipts, LeaveByThemselvesWhenThereAreMany) {
  Fleet fleet(2, Options{.receipts_wait_ns = kForEver, .receipts_max = 3});
  uint64_t done = 0;
  for (int n = 0; n < 3; ++n) fleet[0].push(0, counted(to_port(1), done));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(counts(done).first, 3u);
}

TEST(Receipts, LeaveByThemselvesAfterAWhile) {
  Fleet fleet(2, Options{.receipts_wait_ns = 0});
  Flag there;
  fleet[0].push(0, flagged(to_port(1), there));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(there.now(), 1);
}

TEST(Receipts, LeaveBeforeTheDelegateeSleeps) {
  Fleet fleet(2, Options{.notification = Notification::kKernel, .receipts_wait_ns = kForEver});
  fleet.start();
  Flag there;
  fleet[0].push(0, flagged(to_port(1), there));
  EXPECT_EQ(there.wait(), 0);
}

TEST(Receipts, LeaveBeforeTheDelegateeEnds) {
  Fleet fleet(2, Options{.notification = Notification::kPolling, .receipts_wait_ns = kForEver});
  fleet.start();
  Flag there;
  fleet[0].push(0, flagged(to_port(1), there));
  ASSERT_TRUE(soon([&] { return !fleet[1].delivery.take_messages(0).empty(); }));
  fleet[1].stop();
  EXPECT_EQ(there.wait(), 0);
}

TEST(Receipts, OfAMessageToNobodyDoNotWait) {
  Fleet fleet(2, Options{.receipts_wait_ns = kForEver});
  Flag there;
  fleet[0].push(
      0, flagged(with_payload(Op::kActiveMessage, {1, 99, llcl::kPortHandlers}, "", 0), there));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(there.now(), -ESRCH);
}

}  // namespace
}  // namespace nagaya::delegatee
