// SPDX-License-Identifier: BSD-3-Clause
#include "mailbox/doorbell.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "mailbox/waiting.h"

namespace nagaya::mailbox {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;

TEST(Doorbell, EndsASleepThatBeginsAfterTheRing) {
  Doorbell bell{};
  const uint32_t armed = bell.arm();
  bell.ring();
  bell.sleep(armed, kNever);
  bell.disarm();
}

TEST(Doorbell, SleepsUntilTheDeadlineWhenNobodyRings) {
  Doorbell bell{};
  bell.ring();  // before the arm: tells nothing
  const uint32_t armed = bell.arm();
  const uint64_t deadline_ns = Machine::now_ns() + 5 * kMillisecond;
  while (Machine::now_ns() < deadline_ns) bell.sleep(armed, deadline_ns);
  EXPECT_LT(Machine::now_ns(), deadline_ns + 5000 * kMillisecond);
}

TEST(Doorbell, IsUsableAfterAWaiterThatNeverDisarmed) {
  Doorbell bell{};
  bell.arm();
  const uint32_t armed = bell.arm();
  bell.ring();
  bell.sleep(armed, kNever);
}

// Ping-pong with every policy: a ring is never lost, even if either side is late in sleeping.
TEST(Waiting, NeverMissesARing) {
  for (const WaitPolicy policy : {kSleepAtOnce, kBellPolicy, WaitPolicy{0, 3}}) {
    struct Side {
      Doorbell bell{};
      std::atomic<uint64_t> flag{0};
    } sides[2];
    Load load{1, 2};
    const auto play = [&](int self) {
      Waiting waiting(sides[self].bell, load, policy);
      for (uint64_t n = 1; n <= 3000; ++n) {
        const auto await = [&] {
          waiting.until([&] { return sides[self].flag.load(std::memory_order_acquire) >= n; });
        };
        if (self == 1) await();
        sides[1 - self].flag.store(n, std::memory_order_release);
        sides[1 - self].bell.ring();
        if (self == 0) await();
      }
    };
    std::thread other(play, 1);
    play(0);
    other.join();
  }
}

TEST(Waiting, GivesUpAtTheDeadline) {
  Doorbell bell{};
  Load load{2, 1};
  Waiting waiting(bell, load, kSleepAtOnce);
  EXPECT_FALSE(waiting.until([] { return false; }, Machine::now_ns() + 3 * kMillisecond));
  EXPECT_TRUE(waiting.until([] { return true; }, 0));
}

TEST(Waiting, SpinsOnlyWhilePartnersCanBeRunning) {
  Doorbell bell{};
  const auto looks = [&](uint32_t runnable, WaitPolicy policy) {
    Load load{runnable, 2};
    Waiting waiting(bell, load, policy);
    uint64_t count = 0;
    // The deadline has passed: no yield and no sleep.
    waiting.until([&] { return ++count == UINT64_MAX; }, 1);
    return count;
  };
  EXPECT_GT(looks(2, {100, 0}), 100U);
  EXPECT_LT(looks(3, {100, 0}), 5U);
}

}  // namespace
}  // namespace nagaya::mailbox
