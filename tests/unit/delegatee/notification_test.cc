// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/fleet.h"

namespace nagaya::delegatee {
namespace {

using std::chrono::milliseconds;

// A node whose peer is silent, so that a command stays pending for as long as the test wants.
class Waiting {
 public:
  Waiting(Notification notification, uint32_t waiting,
          uint64_t long_yield_ns = UINT64_MAX,  // in spite of other work of this machine
          uint64_t patience_ns = UINT64_MAX)
      : memory_(64),
        fleet_(2, {.notification = notification,
                   .long_yield_ns = long_yield_ns,
                   .patience_ns = patience_ns,
                   .probe_after_ms = 60000,
                   .fail_after_ms = 60000}) {
    const uint32_t region = fleet_[1].regions.add(0, memory_.data(), memory_.size());
    fleet_.network.pause_link(0, 1);
    fleet_.start();
    Command get = flagged(transfer(Op::kGet, {1, 0, region}, local_, 8), flag_);
    fleet_[0].load.waiting = waiting;
    fleet_[0].push(0, get);
    EXPECT_TRUE(soon([&] { return fleet_[0].delegatee.batches() == 1; }));
  }
  // Whether it uses a processor while it waits.
  bool polls() {
    const double before = fleet_[0].delegatee.processor_seconds();
    std::this_thread::sleep_for(milliseconds(300));
    return fleet_[0].delegatee.processor_seconds() - before > 0.02;
  }
  void wait_no_more() { fleet_[0].load.waiting = 0; }
  int end() {
    fleet_.network.resume_link(0, 1);
    return flag_.wait();
  }

 private:
  Bytes memory_;
  uint64_t local_[1];
  Flag flag_;
  Fleet fleet_;
};

TEST(Notification, PollingLooksAgainWhateverTheCommand) {
  Waiting waiting(Notification::kPolling, 0);
  EXPECT_TRUE(waiting.polls());
  EXPECT_EQ(waiting.end(), 0);
}

TEST(Notification, KernelSleepsWhateverTheCommand) {
  Waiting waiting(Notification::kKernel, 1);
  EXPECT_FALSE(waiting.polls());
  EXPECT_EQ(waiting.end(), 0);
}

TEST(Notification, AutomaticPollsWhileAThreadWaitsForItsCommand) {
  Waiting waiting(Notification::kAutomatic, 1);
  EXPECT_TRUE(waiting.polls());
  EXPECT_EQ(waiting.end(), 0);
}

TEST(Notification, AutomaticSleepsAsSoonAsTheThreadWaitsNoMore) {
  Waiting waiting(Notification::kAutomatic, 1);
  EXPECT_TRUE(waiting.polls());
  waiting.wait_no_more();
  EXPECT_FALSE(waiting.polls());
  EXPECT_EQ(waiting.end(), 0);
}

TEST(Notification, AutomaticSleepsWhenNothingMovesThoughSomebodyIsSaidToWait) {
  Waiting waiting(Notification::kAutomatic, 1, UINT64_MAX, /*patience_ns=*/1);
  EXPECT_FALSE(waiting.polls());
  EXPECT_EQ(waiting.end(), 0);
}

TEST(Notification, AutomaticSleepsForACommandThatNobodyWaitsFor) {
  Waiting waiting(Notification::kAutomatic, 0);
  EXPECT_FALSE(waiting.polls());
  EXPECT_EQ(waiting.end(), 0);
}

TEST(Notification, AutomaticPollsThroughLongYieldsWhileSomebodyWaits) {
  Waiting waiting(Notification::kAutomatic, 1, /*long_yield_ns=*/0);
  EXPECT_TRUE(waiting.polls());
  EXPECT_EQ(waiting.end(), 0);
}

// Whether a delegatee that shares the processors with so many tasks polls while a transfer is under
// way and somebody waits.
bool polls_beside_a_transfer(uint64_t bulk_bytes, uint32_t tasks, uint32_t processors = 1) {
  Bytes memory(kSmallMaxBytes + 1), local(memory.size());
  Fleet fleet(2, {.notification = Notification::kAutomatic,
                  .long_yield_ns = UINT64_MAX,
                  .patience_ns = UINT64_MAX,
                  .bulk_bytes = bulk_bytes,
                  .probe_after_ms = 60000,
                  .fail_after_ms = 60000});
  const uint32_t region = fleet[1].regions.add(0, memory.data(), memory.size());
  fleet[0].load.processors = processors;
  fleet[0].load.runnable += tasks;
  fleet.start();
  const auto get = [&](Flag& flag) {
    fleet[0].push(0, flagged(transfer(Op::kGet, {1, 0, region}, local.data(), local.size()), flag));
  };
  Flag known, got;
  get(known);  // from now on the region is
  EXPECT_EQ(known.wait(), 0);
  fleet.network.pause_link(0, 1);
  fleet[0].load.waiting = 1;
  get(got);
  const double before = fleet[0].delegatee.processor_seconds();
  std::this_thread::sleep_for(milliseconds(300));
  const double used = fleet[0].delegatee.processor_seconds() - before;
  fleet.network.resume_link(0, 1);
  EXPECT_EQ(got.wait(), 0);
  return used > 0.02;
}

TEST(Notification, AutomaticSleepsWhileMuchIsUnderWayThoughSomebodyWaits) {
  EXPECT_TRUE(polls_beside_a_transfer(kSmallMaxBytes + 2, /*tasks=*/2));
  EXPECT_FALSE(polls_beside_a_transfer(kSmallMaxBytes + 1, /*tasks=*/2));
}

TEST(Notification, AutomaticPollsWhileMuchIsUnderWayWhereOneThreadTooManyRuns) {
  EXPECT_TRUE(polls_beside_a_transfer(kSmallMaxBytes + 1, /*tasks=*/1));
  EXPECT_TRUE(polls_beside_a_transfer(kSmallMaxBytes + 1, /*tasks=*/2, /*processors=*/2));
}

// Whether a delegatee whose tasks compute and ask for something every half millisecond comes to
// sleep, or not to sleep, between so many commands in a row: other work of this machine may keep
// it, or the tasks, from the processor now and then.
bool comes_to(bool sleep, int commands, uint64_t long_yield_ns) {
  Bytes memory(64);
  Fleet fleet(2, {.notification = Notification::kAutomatic, .long_yield_ns = long_yield_ns});
  const uint32_t region = fleet[1].regions.add(0, memory.data(), memory.size());
  fleet.start();
  uint64_t sleeps = 0;
  int in_a_row = 0;
  return soon([&] {
    uint64_t local;
    Flag flag;
    fleet[0].push(0, flagged(transfer(Op::kGet, {1, 0, region}, &local, 8), flag));
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    EXPECT_EQ(flag.wait(), 0);
    const uint64_t before = std::exchange(sleeps, fleet[0].lanes.sleeps());
    in_a_row = (sleeps != before) == sleep ? in_a_row + 1 : 0;
    return in_a_row == commands;
  });
}

TEST(Notification, AutomaticSleepsBetweenCommandsWhereOthersWantTheProcessor) {
  EXPECT_TRUE(comes_to(/*sleep=*/true, /*commands=*/30, /*long_yield_ns=*/0));
}

TEST(Notification, AutomaticPollsBetweenCommandsWhereNobodyWantsTheProcessor) {
  // Beside much other work the pauses are longer than a delegatee polls.
  EXPECT_TRUE(comes_to(/*sleep=*/false, /*commands=*/10, /*long_yield_ns=*/UINT64_MAX));
}

TEST(Notification, LosesNoCommandBetweenTheLastLookAndTheSleep) {
  Fleet fleet(2, {.notification = Notification::kKernel});
  uint64_t word = 0, done = 0;
  const uint32_t region = fleet[1].regions.add(0, reinterpret_cast<std::byte*>(&word), 8);
  fleet.start();
  for (uint32_t n = 1; n <= 3000; ++n) {
    fleet[0].push(0, counted(with_payload(Op::kPut, {1, 0, region}, "12345678", 8), done));
    ASSERT_TRUE(soon([&] { return counts(done).first == n; }));
  }
}

}  // namespace
}  // namespace nagaya::delegatee
