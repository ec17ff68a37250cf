// SPDX-License-Identifier: BSD-3-Clause
// Accumulates by several tasks and threads at once, and the death of one.
#include <algorithm>
#include <atomic>
#include <chrono>

#include "accumulate_fixture.h"
#include "reduction/reductions.h"
#include "stepped_process.h"

namespace nagaya::llcl {
namespace {

TEST_F(AccumulateTest, GivesEachTicketOnce) {
  constexpr size_t kTickets = 100'000;
  int64_t counter = 0;
  std::vector<std::atomic<int>> taken(kTasks * kTickets);
  by_tasks([&](uint32_t number) {
    for (size_t n = 0; n < kTickets; ++n) {
      int64_t ticket;
      ASSERT_EQ(add(&counter, nullptr, {1}, &ticket, number), 0);
      taken[static_cast<size_t>(ticket)].fetch_add(1);
    }
  });
  EXPECT_EQ(counter, static_cast<int64_t>(kTasks * kTickets));
  EXPECT_TRUE(std::all_of(taken.begin(), taken.end(), [](auto& times) { return times == 1; }));
}

// The threads of one task exclude each other, too.
TEST_F(AccumulateTest, CountsForThreadsOfOneTask) {
  constexpr int64_t kTimes = 100'000;
  double sum = 0;
  by_tasks([&](uint32_t) {
    const double one = 1;
    for (int64_t n = 0; n < kTimes; ++n)
      ASSERT_EQ(
          accumulate({NAGAYA_ELEMENT_DOUBLE, NAGAYA_REDUCE_SUM, 1, &sum, nullptr, &one, nullptr}),
          0);
  });
  EXPECT_EQ(sum, static_cast<double>(kTasks * kTimes));
}

TEST_F(AccumulateTest, LosesNothingOfSpansThatOverlapInBothDirections) {
  constexpr size_t kCount = 5000, kTimes = 2000;
  std::vector<int64_t> target(kCount + 3 * kTasks);
  const nagaya_runs backwards{nullptr, 16, kCount / 2, -16};
  by_tasks([&](uint32_t number) {
    const std::vector<int64_t> ones(kCount, 1);
    int64_t* const first = target.data() + 3 * number;
    for (size_t n = 0; n < kTimes; ++n)
      ASSERT_EQ(number % 2 == 0 ? add(first, nullptr, ones, nullptr, number)
                                : add(first + kCount - 2, &backwards, ones, nullptr, number),
                0);
  });
  for (size_t at = 0; at < target.size(); ++at) {
    size_t spans = 0;
    for (size_t number = 0; number < kTasks; ++number)
      spans += at >= 3 * number && at < 3 * number + kCount;
    ASSERT_EQ(target[at], static_cast<int64_t>(spans * kTimes)) << at;
  }
}

TEST_F(AccumulateTest, AndCompareSwapSeeEachOther) {
  constexpr int64_t kTimes = 100'000;
  int64_t counter = 0;
  by_tasks([&](uint32_t number) {
    for (int64_t n = 0; n < kTimes; ++n) {
      if (number % 2 == 0) {
        ASSERT_EQ(add(&counter, nullptr, {1}, nullptr, number), 0);
        continue;
      }
      for (int64_t expected = 0, before = 0;; expected = before) {
        const int64_t desired = expected + 1;
        ASSERT_EQ(compare_swap(board(), task(number), {&counter, 8, &expected, &desired, &before}),
                  0);
        if (before == expected) break;
      }
    }
  });
  EXPECT_EQ(counter, kTasks * kTimes);
}

// ---- death
// -----------------------------------------------------------------------------------------

TEST_F(AccumulateTest, WaitsForTheLockOfADeadTaskUntilTheHostFreesIt) {
  int64_t target = 0;
  board().stripes->holder_for(&target) = task(2).bits;
  std::atomic<bool> is_done = false;
  const std::jthread waiter([&] {
    ASSERT_EQ(add(&target, nullptr, {1}), 0);
    is_done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(is_done);
  reclaim(board(), 3);  // holds nothing
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(is_done);
  reclaim(board(), 2);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!is_done && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_TRUE(is_done);
}

// A task is killed at each instruction of an accumulate in two blocks.
TEST_F(AccumulateTest, OfATaskThatIsKilledLeavesElementsWholeAndNoLock) {
  SKIP_UNDER_THREAD_SANITIZER();
  struct Call {
    Board& board;
    nagaya_llcl_accumulation what;
  };
  alignas(kBlockBytes) static std::byte memory[2 * kBlockBytes];
  // The first call in a process chooses the loops. Killed in it, a child would leave that undone
  // here, because it shares the memory of this process.
  reduction::elements_of(NAGAYA_ELEMENT_INT64);
  int kills = 0, kills_with_lock = 0;
  for (int instructions = 1;; instructions += stride()) {
    auto* const target = reinterpret_cast<int64_t*>(memory + kBlockBytes - 24);
    std::fill(target, target + 6, 100);
    const int64_t values[] = {1, 2, 3};
    const nagaya_runs runs{nullptr, 8, 3, 16};
    Call call{board(),
              {NAGAYA_ELEMENT_INT64, NAGAYA_REDUCE_SUM, 3, target, &runs, values, nullptr}};
    board().attached[2] = task(2).bits;
    SteppedProcess process(
        [](void* argument) {
          const auto& its = *static_cast<Call*>(argument);
          llcl::accumulate(its.board, task(2), its.what);
        },
        &call);
    if (!process.can_step()) GTEST_SKIP() << "this process may not trace";
    const bool has_died = process.step(instructions);
    process.kill();
    kills_with_lock += !is_free(target) || !is_free(target + 4);
    reclaim(board(), 2);
    EXPECT_TRUE(is_free(target) && is_free(target + 4));
    for (int64_t n = 0; n < 6; ++n) {
      const int64_t changed = n % 2 == 0 ? 100 + n / 2 + 1 : 100;
      ASSERT_TRUE(target[n] == changed || (has_died && target[n] == 100)) << instructions;
    }
    if (!has_died) break;
    ++kills;
  }
  EXPECT_GT(kills, kills_with_lock);
  EXPECT_GT(kills_with_lock, 0);
}

}  // namespace
}  // namespace nagaya::llcl
