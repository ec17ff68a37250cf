// SPDX-License-Identifier: BSD-3-Clause
#include "match/matcher.h"

#include <errno.h>

#include <tuple>

#include "match/pair.h"

namespace nagaya::match {
namespace {

constexpr Envelope kEnvelope = {7, 0, 3};

// By the way that messages of these sizes travel: in a cell, in a block, from the sender's buffer,
// and in several chunks. [ints]
using Case = std::tuple<size_t, uint32_t>;  // and the number of nodes
class Sizes : public Pair, public testing::WithParamInterface<Case> {
 protected:
  Sizes() : Pair(std::get<1>(GetParam())) {}
  static size_t size() { return std::get<0>(GetParam()); }
  // The message with its context, of task 1. It is gone, or its sender can still take it back.
  void drop(nagaya_send& send) {
    const bool is_sent = send.is_complete != 0;
    ASSERT_EQ(task(1).drop(kEnvelope.context), 0);
    nagaya_message_description found;
    EXPECT_EQ(task(1).probe(kEnvelope, &found), is_sent ? -EAGAIN : 0);
    if (is_sent) send.answers = 0;
    ASSERT_EQ(task(0).cancel(send), 0);
    progress();
    EXPECT_TRUE(send.is_complete);
    EXPECT_EQ(send.is_cancelled != 0, !is_sent);
  }
};

TEST_P(Sizes, AMessageArrivesAtAReceiveThatWaits) {
  const std::vector<int> data = numbers(size(), 1);
  std::vector<int> buffer(size());
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  nagaya_send send = send_of(data, kEnvelope);
  ASSERT_EQ(task(1).receive(receive), 0);
  ASSERT_EQ(task(0).send(send), 0);
  progress();
  EXPECT_TRUE(send.is_complete);
  ASSERT_TRUE(receive.is_complete);
  EXPECT_EQ(receive.error, 0);
  EXPECT_EQ(receive.bytes, send.bytes);
  EXPECT_TRUE(receive.matched == kEnvelope);
  EXPECT_EQ(buffer, data);
}

TEST_P(Sizes, AMessageWaitsForItsReceive) {
  const std::vector<int> data = numbers(size(), 1);
  std::vector<int> buffer(size());
  nagaya_send send = send_of(data, kEnvelope);
  ASSERT_EQ(task(0).send(send), 0);
  progress();
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  ASSERT_EQ(task(1).receive(receive), 0);
  progress();
  EXPECT_TRUE(receive.is_complete);
  EXPECT_TRUE(send.is_complete);
  EXPECT_EQ(buffer, data);
}

TEST_P(Sizes, ASynchronousSendIsCompleteOnlyWhenItIsMatched) {
  const std::vector<int> data = numbers(size(), 1);
  std::vector<int> buffer(size());
  nagaya_send send = send_of(data, kEnvelope);
  send.is_synchronous = 1;
  ASSERT_EQ(task(0).send(send), 0);
  progress();
  EXPECT_FALSE(send.is_complete);
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  task(1).receive(receive);
  progress();
  EXPECT_TRUE(send.is_complete);
  EXPECT_EQ(buffer, data);
}

TEST_P(Sizes, OfAMessageThatIsTooLongTheBeginningArrives) {
  if (size() == 0) GTEST_SKIP() << "nothing is shorter than an empty message";
  const std::vector<int> data = numbers(size(), 1);
  std::vector<int> buffer(size() + 1, -1);
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  receive.capacity = (size() - 1) * sizeof(int);
  nagaya_send send = send_of(data, kEnvelope);
  task(1).receive(receive);
  task(0).send(send);
  progress();
  EXPECT_TRUE(send.is_complete);
  EXPECT_EQ(receive.error, -EMSGSIZE);
  EXPECT_EQ(receive.bytes, send.bytes);
  EXPECT_TRUE(std::equal(data.begin(), data.end() - 1, buffer.begin()));
  EXPECT_EQ(buffer[size() - 1], -1);
}

TEST_P(Sizes, AScatteredBufferIsFilledInOrder) {
  struct Scattered {
    nagaya_receive receive;
    std::vector<int> every_second;
    size_t next = 0;
  };
  const std::vector<int> data = numbers(size(), 1);
  Scattered scattered{{}, std::vector<int>(2 * size()), 0};
  scattered.receive.wanted = kEnvelope;
  scattered.receive.capacity = size() * sizeof(int);
  scattered.receive.scatter = [](nagaya_receive* receive, const void* bytes, size_t count) {
    auto* const into = reinterpret_cast<Scattered*>(receive);
    for (size_t n = 0; n < count / sizeof(int); ++n)
      std::memcpy(&into->every_second[2 * into->next++],
                  static_cast<const std::byte*>(bytes) + n * sizeof(int), sizeof(int));
  };
  nagaya_send send = send_of(data, kEnvelope);
  task(0).send(send);
  task(1).receive(scattered.receive);
  progress();
  ASSERT_TRUE(scattered.receive.is_complete);
  for (size_t n = 0; n < size(); ++n) ASSERT_EQ(scattered.every_second[2 * n], data[n]);
}

// From every second int to every third.
TEST_P(Sizes, RunsGoToRuns) {
  const std::vector<int> data = numbers(2 * size(), 1);
  std::vector<int> buffer(3 * size(), -1);
  const nagaya_runs from{const_cast<int*>(data.data()), sizeof(int), size(), 2 * sizeof(int)};
  const nagaya_runs to{buffer.data(), sizeof(int), size(), 3 * sizeof(int)};
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  receive.runs = &to;
  receive.capacity = size() * sizeof(int);
  nagaya_send send = send_of(data, kEnvelope);
  send.bytes = size() * sizeof(int);
  send.runs = &from;
  ASSERT_EQ(task(0).send(send), 0);
  ASSERT_EQ(task(1).receive(receive), 0);
  progress();
  ASSERT_TRUE(send.is_complete && receive.is_complete);
  for (size_t n = 0; n < buffer.size(); ++n)
    ASSERT_EQ(buffer[n], n % 3 != 0 ? -1 : data[n / 3 * 2]) << n;
}

TEST_P(Sizes, AMessageThatNobodyHasMatchedIsTakenBack) {
  const std::vector<int> data = numbers(size(), 1), other = {17};
  std::vector<int> buffer(size() + 1);
  nagaya_send send = send_of(data, kEnvelope), second = send_of(other, kEnvelope);
  task(0).send(send);
  progress();
  ASSERT_EQ(task(0).cancel(send), 0);
  EXPECT_FALSE(send.is_complete);
  progress();
  EXPECT_TRUE(send.is_complete);
  EXPECT_TRUE(send.is_cancelled);
  task(0).send(second);
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  task(1).receive(receive);
  progress();
  EXPECT_EQ(receive.bytes, sizeof(int));
  EXPECT_EQ(buffer[0], 17);
}

TEST_P(Sizes, AMessageIsAskedBackOnce) {
  const std::vector<int> data = numbers(size(), 1);
  nagaya_send send = send_of(data, kEnvelope);
  send.is_synchronous = 1;
  task(0).send(send);
  progress();
  ASSERT_EQ(task(0).cancel(send), 0);
  ASSERT_EQ(task(0).cancel(send), 0);
  while (task(1).progress() != 0 || wire_of(1).carry() != 0) continue;
  progress();
  ASSERT_TRUE(send.is_complete && send.is_cancelled);
  ASSERT_EQ(task(0).send(send), 0);  // for which no answer of before may count
  progress();
  EXPECT_FALSE(send.is_complete);
}

TEST_P(Sizes, WhatLiesInThePortIsDroppedWithItsContext) {
  const std::vector<int> data = numbers(size(), 1);
  nagaya_send send = send_of(data, kEnvelope);
  task(0).send(send);
  while (wire_of(1).carry() != 0) continue;
  drop(send);
}

TEST_P(Sizes, WhatAContextHasNotReceivedIsDroppedWithIt) {
  const std::vector<int> data = numbers(size(), 1), other = {17};
  std::vector<int> buffer(size() + 1);
  nagaya_send send = send_of(data, kEnvelope), kept = send_of(other, {8, 0, 3});
  task(0).send(send);
  task(0).send(kept);
  progress();
  drop(send);
  nagaya_receive receive = receive_of(buffer, {8, 0, 3});
  task(1).receive(receive);
  progress();
  EXPECT_TRUE(receive.is_complete);
  EXPECT_EQ(buffer[0], 17);
}

// A next communicator of the context's number could match it otherwise, and read memory that has
// gone.
TEST_F(Pair, ALongMessageOfAnEndedTaskIsDroppedWithItsContext) {
  const std::vector<int> data = numbers(1 << 16, 1);
  nagaya_send send = send_of(data, kEnvelope);
  task(0).send(send);
  progress();
  ASSERT_EQ(task(1).drop(kEnvelope.context), 0);
  nagaya_message_description found;
  ASSERT_EQ(task(1).probe(kEnvelope, &found), 0) << "its sender waits for an answer";
  board().attached[0] = 0;
  ASSERT_EQ(task(1).drop(kEnvelope.context), 0);
  EXPECT_EQ(task(1).probe(kEnvelope, &found), -EAGAIN);
}

// As another thread could, between the end of the send and the word of it.
TEST_P(Sizes, AMessageThatIsBeingCompletedIsNotTakenBack) {
  struct Asking : nagaya_send {
    Matcher* matcher;
    int error, completions;
  };
  const std::vector<int> data = numbers(size(), 1);
  std::vector<int> buffer(size());
  Asking send{send_of(data, kEnvelope), &task(0), 0, 0};
  send.is_synchronous = 1;
  send.complete = [](nagaya_send* ended) {
    auto* const asking = static_cast<Asking*>(ended);
    ++asking->completions;
    asking->error = asking->matcher->cancel(*ended);
  };
  task(0).send(send);
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  task(1).receive(receive);
  progress();
  EXPECT_EQ(send.completions, 1);
  EXPECT_EQ(send.error, -EALREADY);
  EXPECT_TRUE(send.is_complete);
}

TEST_P(Sizes, AMessageThatIsMatchedIsNotTakenBack) {
  const std::vector<int> data = numbers(size(), 1);
  std::vector<int> buffer(size());
  nagaya_send send = send_of(data, kEnvelope);
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  task(0).send(send);
  task(1).receive(receive);
  while (task(1).progress() != 0) continue;  // the sender has not heard of it
  ASSERT_EQ(task(0).cancel(send), 0);
  progress();
  EXPECT_TRUE(send.is_complete);
  EXPECT_FALSE(send.is_cancelled);
  EXPECT_EQ(buffer, data);
}

INSTANTIATE_TEST_SUITE_P(Ways, Sizes,
                         testing::Combine(testing::Values(0, 1, 4, 5, 11, 12, 100, 1024, 1025,
                                                          300'000),
                                          testing::Values(1, 2)));

class OneNode : public Pair {};

// Posts a receive, then one of another tag: whether the message that came meanwhile is there.
bool comes_with_the_next_receive(Matcher& receiver, nagaya_receive& first, Matcher& sender,
                                 nagaya_send& send) {
  int unused = 0;
  nagaya_receive next{};
  next.wanted = {7, 0, 99};
  next.buffer = &unused;
  EXPECT_EQ(receiver.receive(first), 0);
  EXPECT_EQ(sender.send(send), 0);
  EXPECT_FALSE(first.is_complete);
  EXPECT_EQ(receiver.receive(next), 0);
  const bool has_come = first.is_complete != 0;
  EXPECT_FALSE(next.is_complete);
  EXPECT_EQ(receiver.cancel(next), 0);
  return has_come;
}

TEST_F(OneNode, AShortMessageComesWithTheNextReceiveAndALongOneIsNotCopiedThere) {
  for (const size_t size : {size_t{1}, size_t{100}, kEagerMax / sizeof(int) + 1}) {
    const std::vector<int> data = numbers(size, 5);
    std::vector<int> buffer(size);
    nagaya_receive receive = receive_of(buffer, kEnvelope);
    nagaya_send send = send_of(data, kEnvelope);
    const bool is_short = size * sizeof(int) <= kEagerMax;
    EXPECT_EQ(comes_with_the_next_receive(task(1), receive, task(0), send), is_short) << size;
    progress();
    EXPECT_TRUE(send.is_complete);
    EXPECT_EQ(buffer, data);
  }
}

TEST_F(OneNode, AReceiveTakesTwoMessagesAlongAndLeavesTheThird) {
  const std::vector<int> data = numbers(3, 5);
  std::vector<int> buffers[3] = {std::vector<int>(3), std::vector<int>(3), std::vector<int>(3)};
  std::vector<nagaya_receive> receives;
  for (auto& buffer : buffers) receives.push_back(receive_of(buffer, kEnvelope));
  for (nagaya_receive& receive : receives) ASSERT_EQ(task(1).receive(receive), 0);
  for (int n = 0; n < 3; ++n) {
    nagaya_send send = send_of(data, kEnvelope);
    ASSERT_EQ(task(0).send(send), 0);
  }
  int unused;
  nagaya_receive next{};
  next.wanted = {7, 0, 99};
  next.buffer = &unused;
  ASSERT_EQ(task(1).receive(next), 0);
  EXPECT_TRUE(receives[0].is_complete);
  EXPECT_TRUE(receives[1].is_complete);
  EXPECT_FALSE(receives[2].is_complete);
  progress();
  EXPECT_TRUE(receives[2].is_complete);
  EXPECT_EQ(task(1).cancel(next), 0);
}

class WithThreads : public Pair {
 protected:
  WithThreads() : Pair(1, /*threads=*/true) {}
};

// Open MPI's coll/adapt holds a lock across irecv that its complete function takes.
TEST_F(WithThreads, AReceiveCompletesNoOther) {
  const std::vector<int> data = numbers(1, 5);
  std::vector<int> buffer(1);
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  nagaya_send send = send_of(data, kEnvelope);
  EXPECT_FALSE(comes_with_the_next_receive(task(1), receive, task(0), send));
  progress();
  EXPECT_EQ(buffer, data);
}

TEST_F(OneNode, AReceiveTakesItsMessageWithoutProgressUnlessAnEarlierOneWantsIt) {
  const std::vector<int> first = numbers(3, 5), second = numbers(3, 50);
  nagaya_send sends[] = {send_of(first, kEnvelope), send_of(second, kEnvelope)};
  for (nagaya_send& send : sends) ASSERT_EQ(task(0).send(send), 0);
  std::vector<int> buffers[3] = {std::vector<int>(3), std::vector<int>(3), std::vector<int>(3)};
  nagaya_receive own = receive_of(buffers[0], kEnvelope);
  ASSERT_EQ(task(1).receive(own), 0);
  ASSERT_TRUE(own.is_complete);
  EXPECT_EQ(buffers[0], first);

  progress();  // the other one is unexpected now, and the mailbox is empty
  ASSERT_EQ(task(0).send(sends[0]), 0);
  nagaya_receive any = receive_of(buffers[1], {7, NAGAYA_ANY_SOURCE, NAGAYA_ANY_TAG});
  ASSERT_EQ(task(1).receive(any), 0);
  ASSERT_TRUE(any.is_complete);
  EXPECT_EQ(buffers[1], second) << "what is unexpected came before what is in the mailbox";

  progress();
  any.wanted.tag = kEnvelope.tag;
  ASSERT_EQ(task(1).receive(any), 0);
  EXPECT_EQ(buffers[1], first);
  ASSERT_EQ(task(1).receive(any), 0);
  ASSERT_FALSE(any.is_complete);
  ASSERT_EQ(task(0).send(sends[1]), 0);
  nagaya_receive later = receive_of(buffers[2], kEnvelope);
  ASSERT_EQ(task(1).receive(later), 0);
  EXPECT_TRUE(any.is_complete);
  EXPECT_FALSE(later.is_complete);
  EXPECT_EQ(buffers[1], second);
  EXPECT_EQ(task(1).cancel(later), 0);
}

TEST_F(OneNode, AReceiveLeavesAMessageOfAnotherEnvelopeInTheMailbox) {
  const std::vector<int> data = numbers(3, 5);
  nagaya_send send = send_of(data, kEnvelope);
  ASSERT_EQ(task(0).send(send), 0);
  std::vector<int> buffer(3), other(3);
  nagaya_receive wrong = receive_of(other, {kEnvelope.context, kEnvelope.source, 99});
  ASSERT_EQ(task(1).receive(wrong), 0);
  EXPECT_FALSE(wrong.is_complete);
  nagaya_receive right = receive_of(buffer, kEnvelope);
  ASSERT_EQ(task(1).receive(right), 0);
  EXPECT_TRUE(right.is_complete);
  EXPECT_EQ(buffer, data);
  EXPECT_EQ(task(1).cancel(wrong), 0);
}

class MatcherTest : public Pair, public testing::WithParamInterface<uint32_t> {
 protected:
  MatcherTest() : Pair(GetParam()) {}
};
INSTANTIATE_TEST_SUITE_P(Nodes, MatcherTest, testing::Values(1, 2));

TEST_P(MatcherTest, MessagesOfASenderAreMatchedInTheirOrderWhateverTheirSizes) {
  std::vector<std::vector<int>> data;
  for (const size_t size : {1, 2000, 20, 5000, 3}) data.push_back(numbers(size, 10 + int(size)));
  std::vector<nagaya_send> sends;
  for (const auto& one : data) sends.push_back(send_of(one, kEnvelope));
  for (nagaya_send& send : sends) task(0).send(send);
  progress();
  for (const auto& one : data) {
    std::vector<int> buffer(5000);
    nagaya_receive receive = receive_of(buffer, {7, NAGAYA_ANY_SOURCE, NAGAYA_ANY_TAG});
    task(1).receive(receive);
    progress();
    ASSERT_EQ(receive.bytes, one.size() * sizeof(int));
    EXPECT_EQ(buffer[0], one[0]);
  }
}

TEST_P(MatcherTest, ATaskSendsToItself) {
  const std::vector<int> data = numbers(2000, 5);
  std::vector<int> buffer(2000);
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  nagaya_send send = send_of(data, kEnvelope, 0);
  task(0).send(send);
  task(0).receive(receive);
  while (task(0).progress() != 0) continue;
  EXPECT_TRUE(send.is_complete);
  EXPECT_EQ(buffer, data);
}

TEST_P(MatcherTest, AProbedMessageStaysAndATakenOneIsForItsTakerOnly) {
  const std::vector<int> data = numbers(50, 1);
  nagaya_send send = send_of(data, kEnvelope);
  nagaya_message_description found{};
  EXPECT_EQ(task(1).probe(kEnvelope, &found), -EAGAIN);
  task(0).send(send);
  progress();
  ASSERT_EQ(task(1).probe({7, NAGAYA_ANY_SOURCE, 3}, &found), 0);
  EXPECT_TRUE(found.envelope == kEnvelope);
  EXPECT_EQ(found.bytes, send.bytes);

  nagaya_message* message = nullptr;
  ASSERT_EQ(task(1).take(kEnvelope, &found, &message), 0);
  EXPECT_EQ(task(1).probe(kEnvelope, &found), -EAGAIN);
  std::vector<int> other_buffer(50), buffer(50);
  nagaya_receive other = receive_of(other_buffer, kEnvelope);
  task(1).receive(other);
  nagaya_receive receive = receive_of(buffer, {});
  ASSERT_EQ(task(1).receive_taken(message, receive), 0);
  EXPECT_TRUE(receive.is_complete);
  EXPECT_FALSE(other.is_complete);
  EXPECT_EQ(buffer, data);
  EXPECT_EQ(task(1).cancel(other), 0);
}

TEST_P(MatcherTest, ACancelledReceiveGetsNothingAndAMatchedOneIsNotCancelled) {
  const std::vector<int> data = numbers(4, 1);
  std::vector<int> first_buffer(4), second_buffer(4);
  nagaya_receive first = receive_of(first_buffer, kEnvelope);
  nagaya_receive second = receive_of(second_buffer, kEnvelope);
  task(1).receive(first);
  task(1).receive(second);
  EXPECT_EQ(task(1).cancel(first), 0);
  nagaya_send send = send_of(data, kEnvelope);
  task(0).send(send);
  progress();
  EXPECT_FALSE(first.is_complete);
  EXPECT_EQ(second_buffer, data);
  EXPECT_EQ(task(1).cancel(second), -EALREADY);
}

TEST_P(MatcherTest, ACompleteFunctionMaySendAndReceive) {
  struct Chain {
    nagaya_receive receive;
    Matcher* matcher;
    nagaya_process other;
    int value, rounds;
  };
  std::vector<int> start = {0};
  Chain chain[2] = {};
  for (uint32_t n = 0; n < 2; ++n) {
    chain[n].matcher = &task(n);
    chain[n].other = process(1 - n);
    chain[n].receive.wanted = {7, static_cast<int>(1 - n), 3};
    chain[n].receive.buffer = &chain[n].value;
    chain[n].receive.capacity = sizeof(int);
    chain[n].receive.complete = [](nagaya_receive* receive) {
      auto* const own = reinterpret_cast<Chain*>(receive);
      const auto me = static_cast<uint32_t>(1 - receive->wanted.source);
      const int next = own->value + 1;
      if (++own->rounds < 100) own->matcher->receive(*receive);
      own->matcher->try_send(own->other, {7, static_cast<int>(me), 3}, {&next, sizeof next},
                             nullptr);
    };
    task(n).receive(chain[n].receive);
  }
  task(0).try_send(process(1), {7, 0, 3}, {start.data(), sizeof(int)}, nullptr);
  progress();
  EXPECT_EQ(chain[0].rounds, 100);
  EXPECT_EQ(chain[1].rounds, 100);
  EXPECT_EQ(chain[0].value, 199);
}

TEST_P(MatcherTest, AMessageToNobodyIsRefused) {
  const std::vector<int> data = numbers(4, 1);
  nagaya_send send = send_of(data, kEnvelope);
  send.to = {0, 99};
  EXPECT_EQ(task(0).send(send), -EINVAL);
  EXPECT_EQ(task(0).try_send({2, 0}, kEnvelope, {data.data(), 4}, nullptr), -EINVAL);
  EXPECT_EQ(task(0).try_send({0, 99}, kEnvelope, {data.data(), 4}, nullptr), -EINVAL);
}

}  // namespace
}  // namespace nagaya::match
