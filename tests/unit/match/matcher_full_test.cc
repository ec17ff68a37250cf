// SPDX-License-Identifier: BSD-3-Clause
// No room: in the mailbox, in the pool.
#include <errno.h>

#include <atomic>
#include <deque>
#include <thread>

#include "match/pair.h"

namespace nagaya::match {
namespace {

constexpr Envelope kEnvelope = {7, 0, 3};

// Both tasks are on one node: between nodes a delegatee would keep messages that find no room.
class Full : public Pair {
 protected:
  // Without a look by the receiver, until nothing more is taken at once.
  int fill() {
    int sent = 0;
    while (task(0).try_send(process(1), kEnvelope, {&sent, sizeof sent}, nullptr) == 0) ++sent;
    return sent;
  }
  int receive_one() {
    std::vector<int> buffer(1);
    nagaya_receive receive = receive_of(buffer, kEnvelope);
    task(1).receive(receive);
    for (int n = 0; n < 1000 && !receive.is_complete; ++n) progress();
    EXPECT_TRUE(receive.is_complete);
    return buffer[0];
  }
};

TEST_F(Full, SendsThatFindNoRoomWaitAndKeepTheirOrder) {
  const int sent = fill();
  ASSERT_GT(sent, 100);
  std::deque<std::vector<int>> data;
  std::deque<nagaya_send> sends;
  for (int n = 0; n < 500; ++n) {
    data.push_back({sent + n});
    sends.push_back(send_of(data.back(), kEnvelope));
    ASSERT_EQ(task(0).send(sends.back()), 0);
    EXPECT_FALSE(sends.back().is_complete);
  }
  // Room in the mailbox is no room before those that wait.
  for (int n = 0; n < 10; ++n) ASSERT_EQ(receive_one(), n);
  for (int n = 10; n < sent + 500; ++n) ASSERT_EQ(receive_one(), n);
  for (const nagaya_send& send : sends) EXPECT_TRUE(send.is_complete);
}

TEST_F(Full, NobodyOvertakesASendThatWaits) {
  const int sent = fill();
  const std::vector<int> data = {sent};
  nagaya_send send = send_of(data, kEnvelope);
  task(0).send(send);
  // The receiver makes room; the sender has not looked since.
  while (task(1).progress() != 0) continue;
  const int late = sent + 1;
  EXPECT_EQ(task(0).try_send(process(1), kEnvelope, {&late, sizeof late}, nullptr), -EAGAIN);
  task(0).progress();
  EXPECT_EQ(task(0).try_send(process(1), kEnvelope, {&late, sizeof late}, nullptr), 0);
  for (int n = 0; n <= late; ++n) ASSERT_EQ(receive_one(), n);
}

TEST_F(Full, ASendThatWaitsForRoomIsTakenBackAtOnce) {
  const int sent = fill();
  const std::vector<int> data = {sent}, last = {sent + 1};
  nagaya_send send = send_of(data, kEnvelope), after = send_of(last, kEnvelope);
  task(0).send(send);
  task(0).send(after);
  ASSERT_EQ(task(0).cancel(send), 0);
  EXPECT_TRUE(send.is_complete);
  EXPECT_TRUE(send.is_cancelled);
  EXPECT_EQ(task(0).cancel(send), -EALREADY);
  for (int n = 0; n < sent; ++n) ASSERT_EQ(receive_one(), n);
  EXPECT_EQ(receive_one(), sent + 1);
}

TEST_F(Full, AnswersWaitForRoomToo) {
  // Rendezvous messages of task 1 to task 0, whose mailbox task 0 itself then fills.
  const std::vector<int> data = numbers(50'000, 1);
  nagaya_send send = send_of(data, kEnvelope, 1);
  task(0).send(send);
  while (task(1).progress() != 0) continue;
  int filled = 0;
  while (task(1).try_send(process(0), {8, 1, 0}, {&filled, sizeof filled}, nullptr) == 0) ++filled;
  std::vector<int> buffer(50'000);
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  task(1).receive(receive);
  while (wire_of(1).carry() + task(1).progress() != 0) continue;
  EXPECT_EQ(buffer, data);
  EXPECT_FALSE(send.is_complete);
  progress();
  EXPECT_TRUE(send.is_complete);
}

// To another node a block is lent for a moment only.
class Lent : public Pair {};

TEST_F(Lent, WithoutABlockAMessageGoesByRendezvous) {
  const std::vector<int> data = numbers(kEagerMax / sizeof(int), 1);
  int eager = 0;
  while (task(0).try_send(process(1), kEnvelope, {data.data(), kEagerMax}, nullptr) == 0) {
    ++eager;
    while (task(1).progress() != 0) continue;
    ASSERT_LE(eager * kEagerMax, 64 << 20);
  }
  nagaya_send send = send_of(data, kEnvelope);
  ASSERT_EQ(task(0).send(send), 0);
  progress();
  EXPECT_FALSE(send.is_complete);
  std::vector<int> buffer(data.size());
  for (int n = 0; n <= eager; ++n) {
    nagaya_receive receive = receive_of(buffer, kEnvelope);
    task(1).receive(receive);
    ASSERT_TRUE(receive.is_complete);
  }
  progress();
  EXPECT_TRUE(send.is_complete);
  EXPECT_EQ(buffer, data);
  // A block that was given back can be lent again.
  EXPECT_EQ(task(0).try_send(process(1), kEnvelope, {data.data(), kEagerMax}, nullptr), 0);
}

// Several threads of both tasks send, receive and look at once; every message arrives once.
class Threads : public Pair {
 protected:
  Threads() : Pair(1, true) {}
  void share_a_task();
};

void Threads::share_a_task() {
  constexpr int kThreads = 3, kMessages = 2000;
  std::vector<std::thread> threads;
  std::atomic<int64_t> sum = 0;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int n = 0; n < kMessages; ++n) {
        const std::vector<int> data = numbers(n % 7 == 0 ? 1500 : 5, n);
        nagaya_send send = send_of(data, {7, thread, 1});
        ASSERT_EQ(task(0).send(send), 0);
        while (std::atomic_ref(send.is_complete).load(std::memory_order_acquire) == 0)
          task(0).progress();
      }
    });
    threads.emplace_back([&, thread] {
      for (int n = 0; n < kMessages; ++n) {
        std::vector<int> buffer(1500);
        nagaya_receive receive = receive_of(buffer, {7, thread, NAGAYA_ANY_TAG});
        receive.from = process(0);
        task(1).receive(receive);
        while (std::atomic_ref(receive.is_complete).load(std::memory_order_acquire) == 0)
          task(1).progress();
        ASSERT_EQ(buffer[0], n);
        ASSERT_EQ(buffer[4], n + 4);
        sum += buffer[0];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, int64_t{kThreads} * kMessages * (kMessages - 1) / 2);
}

TEST_F(Threads, ShareATask) {
  share_a_task();
}

TEST_F(Threads, ShareATaskOfACrowdedNode) {
  board().load.runnable = board().load.processors + 1;
  share_a_task();
}

}  // namespace
}  // namespace nagaya::match
