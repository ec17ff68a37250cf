// SPDX-License-Identifier: BSD-3-Clause
// A task's waits while nothing comes.
#include <sched.h>
#include <time.h>

#include <atomic>
#include <thread>

#include "match/pair.h"

namespace nagaya::match {
namespace {

constexpr Envelope kEnvelope = {7, 0, 3};

// Where this thread and those that it creates run meanwhile.
class OneProcessor {
 public:
  OneProcessor() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    ::sched_getaffinity(0, sizeof before_, &before_);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  ~OneProcessor() { ::sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

class Wait : public Pair {
 protected:
  void crowd() { board().load.runnable = board().load.processors + 1; }
  std::atomic<uint32_t>& is_idle(uint32_t task) { return board().task_waiters[task].is_idle; }
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
};

// On one processor this thread runs when the waiter has handed it on; now and then in the middle of
// something else.
TEST_F(Wait, WhoYieldsIsIdleMeanwhile) {
  crowd();
  const OneProcessor one;
  std::atomic<uint32_t> polls = 0;  // odd: in one
  std::atomic<bool> is_over = false;
  std::thread waiter([&] {
    while (!is_over) {
      ++polls;
      task(1).progress();
      ++polls;
    }
  });
  int seen_in_a_poll = 0, seen_idle = 0;
  for (uint32_t last = 0; seen_in_a_poll < 1'000;) {
    std::this_thread::yield();
    const uint32_t poll = polls;
    if (poll % 2 == 0 || std::exchange(last, poll) == poll) continue;
    ++seen_in_a_poll;
    seen_idle += is_idle(1) != 0;
  }
  is_over = true;
  waiter.join();
  EXPECT_GT(seen_idle, seen_in_a_poll / 2);
  const int value = 42;
  ASSERT_EQ(task(0).try_send(process(1), kEnvelope, {&value, sizeof value}, nullptr), 0);
  task(1).progress();
  EXPECT_EQ(is_idle(1), 0);
}

TEST_F(Wait, AReceiveAndALongSendSayWhomTheyWaitFor) {
  crowd();
  const auto spins = [&] {
    llcl::Backoff backoff(waits_of(0), nullptr, mailbox::kNever);
    return backoff.pause() == mailbox::Pause::kSpin;
  };
  std::vector<int> data(10'000, 1);
  nagaya_receive receive = receive_of(data, kEnvelope);
  for (const nagaya_process from : {nagaya_process{UINT32_MAX, UINT32_MAX}, {0, UINT32_MAX - 1}}) {
    receive.from = from;
    task(0).receive(receive);
    EXPECT_FALSE(spins());
    task(0).cancel(receive);
  }
  receive.from = process(1);
  task(0).receive(receive);
  EXPECT_TRUE(spins());
  waits_of(0).set_partner(llcl::Wait::kNobody);
  nagaya_send send = send_of(data, kEnvelope);
  task(0).send(send);
  EXPECT_TRUE(spins());
}

TEST_F(Wait, ATaskThatWaitsForLongSleepsUntilAMessageComes) {
  constexpr int kTimes = 5;
  uint64_t least_delay_ns = UINT64_MAX, least_used_ns = UINT64_MAX;
  for (int time = 0; time < kTimes; ++time) {
    std::vector<int> buffer(1);
    nagaya_receive receive = receive_of(buffer, kEnvelope);
    task(1).receive(receive);
    uint64_t sent_ns = 0;
    std::thread sender([&] {
      while (board().sleepers[1].count == 0) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      sent_ns = mailbox::Machine::now_ns();
      task(0).try_send(process(1), kEnvelope, {&time, sizeof time}, nullptr);
    });
    const uint64_t processor_ns = nanoseconds(
        CLOCK_THREAD_CPUTIME_ID, [&] { wait(1, [&] { return receive.is_complete != 0; }); });
    const uint64_t over_ns = mailbox::Machine::now_ns();
    sender.join();
    least_used_ns = std::min(least_used_ns, processor_ns);
    EXPECT_EQ(buffer[0], time);
    least_delay_ns = std::min(least_delay_ns, over_ns - sent_ns);
  }
  EXPECT_LT(least_used_ns, 100'000'000u);
  EXPECT_LT(least_delay_ns, 1'000'000u);
}

// A wait for something else delivers messages, too.
TEST_F(Wait, AWaitForAWordAnswersTheSendOfAnother) {
  std::vector<int> data(100'000, 3), buffer(100'000);
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  task(1).receive(receive);
  std::atomic<bool> word = false;
  std::thread sender([&] {
    nagaya_send send = send_of(data, kEnvelope);
    send.is_synchronous = 1;
    task(0).send(send);
    wait(0, [&] { return send.is_complete != 0; });
    word = true;
    llcl::wake_task(board(), 1);
  });
  wait(1, [&] { return word.load(); });
  sender.join();
  EXPECT_EQ(receive.is_complete, 1u);
  EXPECT_EQ(buffer, data);
}

}  // namespace
}  // namespace nagaya::match
