// SPDX-License-Identifier: BSD-3-Clause
// When a task has no memory: its messages stay where they are, or its requests end with an error;
// nothing is lost.
#include <errno.h>

#include <cstdlib>
#include <new>

#include "match/pair.h"

namespace {

thread_local bool is_out_of_memory = false;

}  // namespace

// Allocates for the whole test program. Not inlined: gcc with a sanitizer would see free() after
// new.
[[gnu::noinline]] void* operator new(size_t bytes) {
  void* const memory = is_out_of_memory ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace nagaya::match {
namespace {

constexpr Envelope kEnvelope = {7, 0, 3};

// Calls function() while no memory can be allocated. Returns its result; -ENOMEM if it throws
// std::bad_alloc, as the C functions do.
template <class Function>
int without_memory(Function function) {
  is_out_of_memory = true;
  int result = -ENOMEM;
  try {
    result = function();
  } catch (const std::bad_alloc&) {
  }
  is_out_of_memory = false;
  return result;
}

class NoMemory : public Pair {
 protected:
  explicit NoMemory(uint32_t nodes = 1) : Pair(nodes) {}

  int look(uint32_t number) {
    return without_memory([&] { return task(number).progress(); });
  }
  // Until nothing more is taken at once.
  int fill(uint32_t from) {
    int sent = 0;
    const nagaya_process to = process(1 - from);
    while (task(from).try_send(to, {8, 0, 0}, {&sent, sizeof sent}, nullptr) == 0) ++sent;
    return sent;
  }
};

TEST_F(NoMemory, MessagesStayInTheMailboxAndTheirOrder) {
  constexpr int kMessages = 100;  // more than the first buckets of the index hold
  for (int n = 0; n < kMessages; ++n)
    ASSERT_EQ(task(0).try_send(process(1), kEnvelope, {&n, sizeof n}, nullptr), 0);
  EXPECT_EQ(look(1), -ENOMEM);
  EXPECT_EQ(look(1), -ENOMEM);
  task(1).progress();
  for (int n = 0; n < kMessages; ++n) {
    std::vector<int> buffer(1);
    nagaya_receive receive = receive_of(buffer, kEnvelope);
    ASSERT_EQ(task(1).receive(receive), 0);
    progress();
    ASSERT_TRUE(receive.is_complete);
    EXPECT_EQ(buffer[0], n);
  }
}

TEST_F(NoMemory, WithoutAMessageThereIsNoError) {
  EXPECT_EQ(look(1), 0);
}

TEST_F(NoMemory, AnswersThatWaitGoOut) {
  const std::vector<int> data = numbers(50'000, 1);
  std::vector<int> buffer(50'000);
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  ASSERT_EQ(task(1).receive(receive), 0);
  nagaya_send send = send_of(data, kEnvelope);
  ASSERT_EQ(task(0).send(send), 0);
  const int sent = fill(1);  // so the answer waits
  task(1).progress();
  ASSERT_TRUE(receive.is_complete);
  for (int n = 0; n < 3; ++n)
    ASSERT_EQ(task(0).try_send(process(1), {7, 0, 0}, {&n, sizeof n}, nullptr), 0);
  for (int n = 0; n < sent; ++n) task(0).progress();
  EXPECT_FALSE(send.is_complete);
  EXPECT_GE(look(1), 0);  // the answer goes, and there was memory for one message
  EXPECT_EQ(look(1), -ENOMEM);
  task(0).progress();
  EXPECT_TRUE(send.is_complete);
}

TEST_F(NoMemory, MessagesEnterAnIndexThatCannotGrow) {
  const int value = 1;
  for (int n = 0; n < 65; ++n) {  // one more than it has buckets at first
    ASSERT_EQ(task(0).try_send(process(1), {7, 0, n}, {&value, sizeof value}, nullptr), 0);
  }
  while (task(1).progress() != 0) continue;
  std::vector<int> buffer(1);
  std::vector<nagaya_receive> receives(66, receive_of(buffer, {9, 0, 0}));
  for (nagaya_receive& receive : receives)
    ASSERT_EQ(without_memory([&] { return task(1).receive(receive); }), 0);
  for (nagaya_receive& receive : receives) EXPECT_EQ(task(1).cancel(receive), 0);
}

TEST_F(NoMemory, EndsOnlyTheWaitsThatWantToKnow) {
  const int value = 1;
  ASSERT_EQ(task(0).try_send(process(1), kEnvelope, {&value, sizeof value}, nullptr), 0);
  const auto never = [] { return false; };
  const auto wait_for_some_ms = [&](OnError on_error) {
    const uint64_t deadline_ns = mailbox::Machine::now_ns() + 20'000'000;
    return without_memory([&] { return wait(1, never, deadline_ns, on_error); });
  };
  EXPECT_EQ(wait_for_some_ms(OnError::kEnd), -ENOMEM);
  EXPECT_EQ(wait_for_some_ms(OnError::kWaitOn), -ETIMEDOUT);
}

TEST_F(NoMemory, ASendThatCannotWaitForRoomIsRefused) {
  const int sent = fill(0);
  const std::vector<int> data = {sent};
  nagaya_send send = send_of(data, {8, 0, 0});
  EXPECT_EQ(without_memory([&] { return task(0).send(send); }), -ENOMEM);
  progress();
  EXPECT_FALSE(send.is_complete);
  ASSERT_EQ(task(0).send(send), 0);
  progress();
  EXPECT_TRUE(send.is_complete);
  EXPECT_EQ(send.error, 0);
}

TEST_F(NoMemory, AnAnswerThatFindsNoRoomNeedsNone) {
  const std::vector<int> data = numbers(50'000, 1);
  std::vector<int> buffer(50'000);
  nagaya_send send = send_of(data, kEnvelope);
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  task(0).send(send);
  while (task(1).progress() != 0) continue;
  fill(1);
  EXPECT_EQ(without_memory([&] { return task(1).receive(receive); }), 0);
  EXPECT_TRUE(receive.is_complete);
  EXPECT_FALSE(send.is_complete);
  progress();
  EXPECT_TRUE(send.is_complete);
  EXPECT_EQ(buffer, data);
}

class NoMemoryBetweenNodes : public NoMemory {
 protected:
  NoMemoryBetweenNodes() : NoMemory(2) {}

  std::vector<int> data_ = numbers(50'000, 1), buffer_ = std::vector<int>(50'000);
  nagaya_send send_ = send_of(data_, kEnvelope);
  nagaya_receive receive_ = receive_of(buffer_, kEnvelope);
};

TEST_F(NoMemoryBetweenNodes, AReceiveOfALongMessageEndsWithTheError) {
  task(0).send(send_);
  while (task(1).progress() != 0) continue;
  EXPECT_EQ(without_memory([&] { return task(1).receive(receive_); }), 0);
  EXPECT_TRUE(receive_.is_complete);
  EXPECT_EQ(receive_.error, -ENOMEM);
  progress();
  EXPECT_TRUE(send_.is_complete);
  EXPECT_EQ(wire_of(0).shared, 0);
}

TEST_F(NoMemoryBetweenNodes, ASendThatHasWaitedEndsWithItsError) {
  wire_of(0).send_error = -EAGAIN;
  ASSERT_EQ(task(0).send(send_), 0);
  task(0).progress();
  EXPECT_FALSE(send_.is_complete);
  wire_of(0).send_error = -EINVAL;
  while (task(0).progress() == 0) continue;
  EXPECT_TRUE(send_.is_complete);
  EXPECT_EQ(send_.error, -EINVAL);
  EXPECT_EQ(wire_of(0).shared, 0);
  // The way is free for others.
  wire_of(0).send_error = 0;
  ASSERT_EQ(task(0).send(send_), 0);
  task(1).receive(receive_);
  progress();
  EXPECT_TRUE(send_.is_complete);
  EXPECT_EQ(send_.error, 0);
  EXPECT_EQ(buffer_, data_);
}

}  // namespace
}  // namespace nagaya::match
