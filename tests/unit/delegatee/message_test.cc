// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/fleet.h"

namespace nagaya::delegatee {
namespace {

Command message(uint32_t node, uint32_t task, uint32_t handler, const void* data, size_t bytes) {
  return transfer(Op::kActiveMessage, {node, task, handler}, const_cast<void*>(data), bytes);
}

TEST(Message, OfEverySizeArrivesWithItsSourceAndHandler) {
  Fleet fleet(3);
  fleet.start();
  for (const size_t bytes : {0, 1, 31, 32, 33, 4095, 4096, 4097, 1 << 20}) {
    const Bytes data = pattern(bytes, 3);
    Flag flag;
    fleet[2].push(4, flagged(message(1, 6, 42, data.data(), bytes), flag));
    ASSERT_EQ(flag.wait(), 0);
    const auto messages = fleet[1].delivery.take_messages(6);
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].handler, 42u);
    EXPECT_EQ(messages[0].source_node, 2u);
    EXPECT_EQ(messages[0].source_task, 4u);
    EXPECT_TRUE(messages[0].payload == data);
  }
}

TEST(Message, CarriesItsBytesInTheCommandItself) {
  Fleet fleet(2);
  fleet.start();
  Flag flag;
  fleet[0].push(0, flagged(with_payload(Op::kActiveMessage, {1, 0, 7}, "hello", 5), flag));
  ASSERT_EQ(flag.wait(), 0);
  const auto messages = fleet[1].delivery.take_messages(0);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(std::memcmp(messages[0].payload.data(), "hello", 5), 0);
}

TEST(Message, OfMoreThanTheLongestIsAnError) {
  Fleet fleet(2);
  fleet.start();
  Flag flag;
  const Bytes data(kMessageMaxBytes + 1);
  fleet[0].push(0, flagged(message(1, 0, 0, data.data(), data.size()), flag));
  EXPECT_EQ(flag.wait(), -EMSGSIZE);
}

TEST(Message, ToNoTaskIsAnErrorOfEverySize) {
  Fleet fleet(2);
  fleet.start();
  const Bytes data(100000);
  for (const size_t bytes : {8, 100000}) {
    Flag flag;
    fleet[0].push(0, flagged(message(1, 99, 0, data.data(), bytes), flag));
    EXPECT_EQ(flag.wait(), -ESRCH);
  }
}

TEST(Message, OfATaskThatEndedInTheMiddleIsNeverSeen) {
  Fleet fleet(2, Options{.batch_bytes = 8192, .credit_bytes = 10000});
  fleet[1].delivery.set_room(0);  // the message that is whole stays, and keeps those behind it
  fleet.start();
  const Bytes data(100000);
  Flag first, second, third;
  fleet[0].push(0, flagged(message(1, 0, 1, data.data(), 8), first));
  fleet[0].push(3, flagged(message(1, 0, 2, data.data(), data.size()), second));
  ASSERT_TRUE(soon([&] { return fleet[0].lanes[3].lag() == 0; }));
  fleet[0].delegatee.abandon(3);
  fleet[0].push(0, flagged(message(1, 0, 3, data.data(), data.size()), third));
  ASSERT_TRUE(soon([&] { return fleet[0].delivery.has_released(3); }));
  fleet[1].delivery.set_room(10);
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(third.wait(), 0);
  const auto messages = fleet[1].delivery.take_messages(0);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].handler, 1u);
  EXPECT_EQ(messages[1].handler, 3u);
  EXPECT_TRUE(messages[1].payload == data);
  EXPECT_EQ(second.now(), 0);
}

TEST(Message, ThroughAFullMailboxComesLaterAndInOrder) {
  constexpr uint32_t kMessages = 3000;
  Fleet fleet(2, Options{.credit_commands = 100});
  fleet[1].delivery.set_room(5);
  fleet.start();
  uint64_t done = 0;
  std::thread sender([&] {
    for (uint32_t n = 0; n < kMessages; ++n)
      fleet[0].push(1, counted(with_payload(Op::kActiveMessage, {1, 0, 0}, &n, sizeof n), done));
  });
  uint32_t next = 0;
  bool in_order = true;
  EXPECT_TRUE(soon([&] {
    for (const Posted& posted : fleet[1].delivery.take_messages(0)) {
      uint32_t number;
      std::memcpy(&number, posted.payload.data(), sizeof number);
      in_order &= number == next++;
    }
    return next >= kMessages;
  }));
  sender.join();
  EXPECT_TRUE(in_order);
  EXPECT_TRUE(soon([&] { return counts(done).first == kMessages; }));
}

TEST(Message, ForAFullMailboxIsNotAnsweredAndStopsNoOtherRequest) {
  Fleet fleet(2);
  fleet[1].delivery.set_room(0);
  uint64_t word = 0;
  const uint32_t region = fleet[1].regions.add(0, reinterpret_cast<std::byte*>(&word), 8);
  fleet.start();
  Flag sent, put;
  fleet[0].push(0, flagged(with_payload(Op::kActiveMessage, {1, 0, 0}, "x", 1), sent));
  fleet[0].push(0, flagged(with_payload(Op::kPut, {1, 0, region}, "12345678", 8), put));
  EXPECT_EQ(put.wait(), 0);
  EXPECT_EQ(sent.now(), 0);
  fleet[1].delivery.set_room(1);
  EXPECT_EQ(sent.wait(), 0);
}

}  // namespace
}  // namespace nagaya::delegatee
