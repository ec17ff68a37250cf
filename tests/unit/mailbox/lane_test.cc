// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "mailbox/cell.h"

namespace nagaya::mailbox {
namespace {

TEST(Lane, GivesCellsBackInOrderAndWhole) {
  auto lane = std::make_unique<Lane<TestCell>>();
  for (uint64_t n = 0; n < 3; ++n) EXPECT_TRUE(lane->push(TestCell::of(1, n)));
  EXPECT_EQ(lane->lag(), 3U);
  TestCell out[4];
  EXPECT_EQ(lane->drain(out, 2), 2U);
  EXPECT_EQ(lane->drain(out + 2, 4), 1U);
  for (uint64_t n = 0; n < 3; ++n) EXPECT_TRUE(out[n].number == n && out[n].whole());
  EXPECT_EQ(lane->drain(out, 4), 0U);
}

TEST(Lane, RefusesWhatDoesNotFitAndTakesItAfterADrain) {
  auto lane = std::make_unique<Lane<TestCell>>();
  for (uint64_t n = 0; n < 256; ++n) ASSERT_TRUE(lane->push(TestCell::of(1, n)));
  EXPECT_FALSE(lane->push(TestCell::of(1, 256)));
  EXPECT_EQ(lane->lag(), 256U);
  TestCell out;
  EXPECT_EQ(lane->drain(&out, 1), 1U);
  EXPECT_TRUE(lane->push(TestCell::of(1, 256)));
  EXPECT_FALSE(lane->push(TestCell::of(1, 257)));
}

TEST(LaneSet, IsRefusedByACopyThatWasBuiltOtherwise) {
  auto set = make_lanes<Machine>(2);
  EXPECT_TRUE(set->matches());
  *reinterpret_cast<uint32_t*>(set.get()) ^= 1;
  EXPECT_FALSE(set->matches());
}

TEST(LaneSet, GivesEachClaimerItsOwnLaneUntilNoneIsLeft) {
  auto set = make_lanes<Machine>(3);
  std::vector<bool> seen(3);
  for (uint32_t task = 0; task < 3; ++task) {
    const uint32_t lane = set->claim(Owner::task(task, 1));
    ASSERT_LT(lane, 3U);
    EXPECT_FALSE(seen[lane]);
    seen[lane] = true;
  }
  EXPECT_EQ(set->claim(Owner::task(0, 1)), set->kNoLane);
  set->release(1);
  EXPECT_EQ(set->claim(Owner::task(7, 1)), 1U);
}

TEST(LaneSet, ReclaimsADeadTasksLanesAndDropsWhatWaits) {
  auto set = make_lanes<Machine>(4);
  const Owner dead = Owner::task(5, 2), namesake = Owner::task(5, 3);
  const uint32_t lane = set->claim(dead), other = set->claim(namesake);
  ASSERT_TRUE(set->push(lane, TestCell::of(5, 1)));
  ASSERT_TRUE(set->push(other, TestCell::of(6, 1)));
  set->reclaim(dead);
  std::vector<uint64_t> producers;
  const auto take = [&](uint32_t, const TestCell* cells, size_t count) {
    for (size_t n = 0; n < count; ++n) producers.push_back(cells[n].producer);
  };
  set->drain(take);
  EXPECT_EQ(producers, std::vector<uint64_t>{6});
  EXPECT_EQ(set->claim(dead), lane);
}

TEST(LaneSet, DealsTasksOutToConsumersOfWhichEachDrainsItsShareAlone) {
  constexpr uint32_t kConsumers = 4;
  auto set = make_lanes<Machine>(512);
  std::vector<uint64_t> tasks(kConsumers);
  for (uint32_t task = 0; task < 8; ++task) {
    const uint32_t lane = set->claim(Owner::task(task, 1));
    ++tasks[LaneShare::index_of(lane, kConsumers)];
    ASSERT_TRUE(set->push(lane, TestCell::of(lane, 0)));
  }
  EXPECT_EQ(tasks, (std::vector<uint64_t>{2, 2, 2, 2}));
  for (uint32_t n = 0; n < kConsumers; ++n) {
    const LaneShare share{n, kConsumers};
    const auto all = [](uint32_t) { return size_t{32}; };
    const auto take = [&](uint32_t lane, const TestCell* cells, size_t) {
      EXPECT_TRUE(share.has(lane));
      EXPECT_EQ(cells->producer, lane);
    };
    set->before_sleep(share);
    EXPECT_EQ(set->drain(all, take, share), 2u);
  }
  EXPECT_EQ(set->drain([](auto...) {}), 0u);
}

TEST(LaneSet, LosesNothingAmongThreadsThatPushAndClaimAnew) {
  constexpr uint64_t kThreads = 3, kPushes = 30000;
  auto set = make_lanes<Machine>(130);  // three words of the bitmap
  std::vector<std::thread> threads;
  for (uint64_t self = 1; self <= kThreads; ++self)
    threads.emplace_back([&, self] {
      const Owner owner = Owner::task(static_cast<uint32_t>(self * 40), 1);
      const uint32_t lane = set->claim(owner);
      for (uint64_t n = 1; n <= kPushes;)
        if (set->push(lane, TestCell::of(self, n)))
          ++n;
        else
          Machine::yield();
      set->release(lane);
    });
  uint64_t next[kThreads + 1] = {}, sum = 0, wrong = 0;
  while (sum < kThreads * kPushes) {
    const size_t count = set->drain([&](uint32_t, const TestCell* cells, size_t cell_count) {
      for (size_t n = 0; n < cell_count; ++n)
        wrong += !cells[n].whole() || cells[n].number != ++next[cells[n].producer];
    });
    if (count == 0) Machine::yield();
    sum += count;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace nagaya::mailbox
