// SPDX-License-Identifier: BSD-3-Clause
#include "mailbox/ring.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "mailbox/cell.h"

namespace nagaya::mailbox {
namespace {

using TestRing = Ring<TestCell>;

constexpr auto kAny = [](uint32_t) { return size_t{1}; };
constexpr auto kNothing = [](uint32_t, const TestCell*, size_t) {};

TEST(Ring, HandsOverEachProducersItemsInTheirOrderWithTheirLane) {
  constexpr uint32_t kProducers = 4;
  constexpr uint64_t kEach = 20000;
  const auto ring = std::make_unique<TestRing>();
  std::vector<std::thread> producers;
  for (uint32_t producer = 0; producer < kProducers; ++producer)
    producers.emplace_back([&, producer] {
      for (uint64_t number = 1; number <= kEach; ++number)
        while (!ring->push(producer, TestCell::of(producer, number))) std::this_thread::yield();
    });
  uint64_t taken[kProducers] = {};
  const auto take = [&](uint32_t lane, const TestCell* cell, size_t count) {
    ASSERT_EQ(count, 1u);
    ASSERT_TRUE(cell->whole());
    ASSERT_EQ(cell->producer, lane);
    ASSERT_EQ(cell->number, ++taken[lane]);
  };
  for (uint64_t sum = 0; sum < kProducers * kEach && !HasFatalFailure();) {
    const size_t count = ring->drain(32, kAny, take);
    if (count == 0) std::this_thread::yield();
    sum += count;
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_EQ(ring->drain(1, kAny, kNothing), 0u);
}

TEST(Ring, IsFullWhenEveryCellIsAndOnlyThen) {
  const auto ring = std::make_unique<TestRing>();
  for (int lap = 0; lap < 3; ++lap) {
    for (uint64_t n = 0; n < TestRing::kCells; ++n) ASSERT_TRUE(ring->push(0, TestCell::of(0, n)));
    EXPECT_FALSE(ring->push(0, TestCell::of(0, 0)));
    EXPECT_EQ(ring->drain(1, kAny, kNothing), 1u);
    EXPECT_TRUE(ring->push(0, TestCell::of(0, 0)));
    EXPECT_EQ(ring->drain(SIZE_MAX, kAny, kNothing), TestRing::kCells);
  }
}

TEST(Ring, AnItemThatIsNotWantedYetHoldsUpThoseBehindIt) {
  const auto ring = std::make_unique<TestRing>();
  for (uint32_t lane : {0, 1, 0}) ring->push(lane, TestCell::of(lane, 1));
  const auto not_of_lane_one = [](uint32_t lane) { return size_t{lane != 1}; };
  EXPECT_EQ(ring->drain(8, not_of_lane_one, kNothing), 1u);
  EXPECT_EQ(ring->drain(8, not_of_lane_one, kNothing), 0u);
  EXPECT_EQ(ring->drain(8, kAny, kNothing), 2u);
}

TEST(Ring, WhatWasDroppedIsNotHandedOver) {
  const auto ring = std::make_unique<TestRing>();
  for (uint32_t producer : {1, 2, 1, 2}) ring->push(producer, TestCell::of(producer, 1));
  ring->drop([](const TestCell& cell) { return cell.producer == 1; });
  std::vector<uint64_t> taken;
  while (ring->drain(1, kAny, [&](uint32_t, const TestCell* cell, size_t) {
    taken.push_back(cell->producer);
  }) != 0)
    continue;
  EXPECT_EQ(taken, (std::vector<uint64_t>{2, 2}));
}

}  // namespace
}  // namespace nagaya::mailbox
