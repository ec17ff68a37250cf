// SPDX-License-Identifier: BSD-3-Clause
// What a task does while nothing comes.
#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <thread>

#include "match/pair.h"

namespace nagaya::match {
namespace {

constexpr Envelope kEnvelope = {7, 0, 3};

class Wait : public Pair {
 protected:
  void crowd() { board().load.runnable = board().load.processors + 1; }
  std::atomic<uint32_t>& is_away(uint32_t task) { return board().task_waiters[task].is_away; }
  static uint64_t nanoseconds(clockid_t clock, auto call) {
    const auto now = [clock] {
      timespec time;
      ::clock_gettime(clock, &time);
      return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
             static_cast<uint64_t>(time.tv_nsec);
    };
    const uint64_t begin_ns = now();
    call();
    return now() - begin_ns;
  }
  static void compute() {
    const uint64_t end_ns = mailbox::Machine::now_ns() + 5'000;
    while (mailbox::Machine::now_ns() < end_ns) continue;
  }
  // Of the calling thread so far; yields are none.
  static long sleeps() {
    rusage used;
    ::getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;
  }
};

TEST_F(Wait, WhoYieldsIsAwayMeanwhile) {
  crowd();
  std::atomic<uint32_t> looks = 0;  // odd: in one
  std::atomic<bool> is_over = false;
  std::thread waiter([&] {
    for (int n = 0; n < 19'000 && !is_over; ++n) {  // then it would sleep
      ++looks;
      task(1).progress();
      ++looks;
    }
    is_over = true;
  });
  int seen_in_a_look = 0, seen_away = 0;
  while (seen_in_a_look < 100'000 && !is_over) {
    const uint32_t before = looks;
    const bool was_away = is_away(1) != 0;
    if (before % 2 == 0 || looks != before) continue;
    ++seen_in_a_look;
    seen_away += was_away;
  }
  is_over = true;
  waiter.join();
  EXPECT_GT(seen_away, seen_in_a_look / 4);  // most of such a look is the yield
  const int value = 42;
  ASSERT_EQ(task(0).try_send(process(1), kEnvelope, &value, sizeof value, nullptr), 0);
  task(1).progress();
  EXPECT_EQ(is_away(1), 0);
}

// On a crowded node. The shortest of many looks: others may run between.
TEST_F(Wait, AfterAMessageATaskSpinsWhileItsPartnerRuns) {
  crowd();
  std::vector<int> data = {1};
  uint64_t first_ns, first_processor_ns, second_processor_ns;
  const auto look = [&](nagaya_process from) {
    first_ns = first_processor_ns = second_processor_ns = UINT64_MAX;
    for (int time = 0; time < 50; ++time) {
      nagaya_receive receive = receive_of(data, kEnvelope);
      receive.from = from;
      task(0).receive(receive);
      ASSERT_EQ(task(1).try_send(process(0), kEnvelope, data.data(), sizeof(int), nullptr), 0);
      ASSERT_EQ(task(0).progress(), 1);
      uint64_t processor_ns = 0;
      const auto timed = [&] {
        processor_ns = nanoseconds(CLOCK_THREAD_CPUTIME_ID, [&] { task(0).progress(); });
      };
      first_ns = std::min(first_ns, nanoseconds(CLOCK_MONOTONIC, timed));
      first_processor_ns = std::min(first_processor_ns, processor_ns);
      timed();
      second_processor_ns = std::min(second_processor_ns, processor_ns);
    }
  };
  look(process(1));
  EXPECT_GE(first_ns, 5000);
  EXPECT_LT(second_processor_ns, 5000);
  look({UINT32_MAX, UINT32_MAX});
  EXPECT_LT(first_processor_ns, 5000) << "for anybody";
  look({0, UINT32_MAX - 1});
  EXPECT_LT(first_processor_ns, 5000) << "for no task";
  board().load.waiting = 1;
  look(process(1));
  EXPECT_LT(first_processor_ns, 5000) << "though somebody waits for the delegatee";
  board().load.waiting = 0;
  is_away(1) = 1;
  look(process(1));
  EXPECT_LT(first_processor_ns, 5000) << "though the partner is away";
}

TEST_F(Wait, ATaskThatWaitsForLongSleepsUntilAMessageComes) {
  std::vector<int> buffer(1);
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  task(1).receive(receive);
  for (int n = 0; n < 20'010; ++n) task(1).progress();  // it has lost its patience
  std::thread sender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const int value = 42;
    task(0).try_send(process(1), kEnvelope, &value, sizeof value, nullptr);
  });
  const uint64_t processor_ns = nanoseconds(CLOCK_THREAD_CPUTIME_ID, [&] {
    while (!receive.is_complete) task(1).progress();
  });
  EXPECT_LT(processor_ns, 100'000'000);
  EXPECT_EQ(buffer[0], 42);
  sender.join();
}

TEST_F(Wait, WhatComesWhileATaskSleepsIsFoundByThatLook) {
  constexpr int kTimes = 10;
  int found = 0;
  for (int time = 0; time < kTimes; ++time) {
    std::vector<int> buffer(1);
    nagaya_receive receive = receive_of(buffer, kEnvelope);
    task(1).receive(receive);
    std::atomic<uint32_t> looks = 0;
    uint32_t look = 0;  // in which it sleeps
    std::thread sender([&] {
      do {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        look = looks;
      } while (look <= 20'000 || is_away(1) == 0 || looks != look);
      task(0).try_send(process(1), kEnvelope, &time, sizeof time, nullptr);
    });
    while (!receive.is_complete) {
      ++looks;
      task(1).progress();
    }
    sender.join();
    found += looks == look;
  }
  EXPECT_GT(found, kTimes / 2);  // a sender may come too late
}

// A program that computes, and looks now and then whether something has come.
TEST_F(Wait, ATaskThatOnlyLooksInBetweenNeverSleeps) {
  const long before = sleeps();
  for (int n = 0; n < 20'500; ++n) {
    compute();
    task(1).progress();
  }
  EXPECT_LT(sleeps() - before, 100);
}

TEST_F(Wait, InterruptsDoNotKeepATaskAwake) {
  const auto look = [&](int times, int compute_each) {
    const long before = sleeps();
    for (int n = 1; n <= times; ++n) {
      if (n % compute_each == 0) compute();
      task(1).progress();
    }
    return sleeps() - before;
  };
  EXPECT_GT(look(23'000, 500), 50);
  EXPECT_LT(look(1000, 1), 100) << "once it computes again";
}

}  // namespace
}  // namespace nagaya::match
