// SPDX-License-Identifier: BSD-3-Clause
// The differences when the other task lives on another node.
#include <errno.h>

#include "match/pair.h"

namespace nagaya::match {
namespace {

constexpr Envelope kEnvelope = {7, 0, 3};

class RemoteTest : public Pair {
 protected:
  RemoteTest() : Pair(2) {}

  // A long message, matched; the read of it is asked for.
  void begin() {
    task(1).receive(receive_);
    task(0).send(send_);
    while (task(1).progress() != 0) continue;
  }

  std::vector<int> data_ = numbers(50'000, 1), buffer_ = std::vector<int>(50'000);
  nagaya_send send_ = send_of(data_, kEnvelope);
  nagaya_receive receive_ = receive_of(buffer_, kEnvelope);
};

TEST_F(RemoteTest, TheSendersBufferIsSharedUntilItIsRead) {
  begin();
  EXPECT_EQ(wire_of(0).shared, 1);
  EXPECT_FALSE(receive_.is_complete);
  progress();
  EXPECT_TRUE(receive_.is_complete);
  EXPECT_TRUE(send_.is_complete);
  EXPECT_EQ(buffer_, data_);
  EXPECT_EQ(wire_of(0).shared, 0);
}

TEST_F(RemoteTest, ACancelledLongSendIsSharedNoLonger) {
  task(0).send(send_);
  progress();
  EXPECT_EQ(wire_of(0).shared, 1);
  ASSERT_EQ(task(0).cancel(send_), 0);
  progress();
  EXPECT_TRUE(send_.is_cancelled);
  EXPECT_EQ(wire_of(0).shared, 0);
}

// A message sent without a request has one now, of which only a part is filled in.
TEST_F(RemoteTest, ACancelOfWhatWasCompleteEndsNoRegion) {
  const int value = 1;
  nagaya_send late{};
  ASSERT_EQ(task(0).try_send(process(1), kEnvelope, {&value, sizeof value}, &late.serial), 0);
  late.to = process(1);
  late.envelope = kEnvelope;
  task(0).send(send_);
  late.handle = send_.handle;
  ASSERT_EQ(task(0).cancel(late), 0);
  progress();
  EXPECT_TRUE(late.is_cancelled);
  EXPECT_EQ(wire_of(0).shared, 1);
}

// Each waits for a region that the other's answer gives back.
TEST_F(RemoteTest, AnswersOvertakeMessagesThatWaitForARegion) {
  std::vector<int> second = numbers(50'000, 2);
  std::vector<std::vector<int>> buffers(4, std::vector<int>(50'000));
  std::vector<nagaya_send> sends;
  std::vector<nagaya_receive> receives;
  for (const uint32_t to : {1u, 0u}) {
    wire_of(to).most_shared = 1;
    for (std::vector<int>* const data : {&data_, &second}) {
      sends.push_back(send_of(*data, kEnvelope, to));
      receives.push_back(receive_of(buffers[receives.size()], kEnvelope));
    }
  }
  for (int n = 0; n < 4; ++n) task(n / 2).send(sends[n]);
  for (int n = 0; n < 4; ++n) task(1 - n / 2).receive(receives[n]);
  progress();
  for (int n = 0; n < 4; ++n) {
    EXPECT_TRUE(sends[n].is_complete && receives[n].is_complete) << n;
    EXPECT_EQ(buffers[n], n % 2 == 0 ? data_ : second) << n;
  }
}

TEST_F(RemoteTest, WhatAMailboxHasNoRoomForIsKeptInItsOrder) {
  constexpr int kMessages = 1000;
  for (int n = 0; n < kMessages; ++n) {
    // Room in the mailbox is no room before those that are kept.
    if (n == kMessages / 2) task(1).progress();
    ASSERT_EQ(task(0).try_send(process(1), kEnvelope, {&n, sizeof n}, nullptr), 0);
  }
  for (int n = 0; n < kMessages; ++n) {
    std::vector<int> buffer(1);
    nagaya_receive receive = receive_of(buffer, kEnvelope);
    task(1).receive(receive);
    progress();
    ASSERT_TRUE(receive.is_complete);
    ASSERT_EQ(buffer[0], n);
  }
}

TEST_F(RemoteTest, AReadThatFindsNoRoomIsAskedForAgain) {
  wire_of(1).is_full = true;
  begin();
  progress();
  EXPECT_FALSE(receive_.is_complete);
  wire_of(1).is_full = false;
  task(1).progress();
  progress();
  EXPECT_TRUE(receive_.is_complete);
  EXPECT_EQ(buffer_, data_);
}

TEST_F(RemoteTest, ALostNodeEndsTheReceiveWithItsError) {
  wire_of(1).broken = -ECONNRESET;
  begin();
  progress();
  EXPECT_TRUE(receive_.is_complete);
  EXPECT_EQ(receive_.error, -ECONNRESET);
}

TEST_F(RemoteTest, MessagesOfBothNodesAreMatchedInTheOrderOfTheirArrival) {
  const std::vector<int> own = {1}, other = {2};
  nagaya_send of_own = send_of(own, {7, 1, 3}), of_other = send_of(other, {7, 0, 3});
  task(0).send(of_other);
  task(1).send(of_own);
  for (const int expected : {2, 1}) {
    std::vector<int> buffer(1);
    nagaya_receive receive = receive_of(buffer, {7, NAGAYA_ANY_SOURCE, 3});
    task(1).receive(receive);
    progress();
    EXPECT_EQ(buffer[0], expected);
  }
}

TEST_F(RemoteTest, AMessageWhoseReceiverEndsInItsMiddleIsGivenUp) {
  const std::byte part[100] = {};
  const auto deliver = [&](uint64_t offset) {
    return nodes_.delegatee(1).deliver({0, llcl::kPortHandlers, 0, 0, 200, offset, part});
  };
  std::atomic<uint32_t>& attached = nodes_.board(1).attached[0];
  const uint32_t owner = attached;
  ASSERT_EQ(deliver(0), delegatee::Delivered::kAccepted);
  attached = 0;
  EXPECT_EQ(deliver(100), delegatee::Delivered::kRefused);
  attached = owner;
  EXPECT_EQ(deliver(100), delegatee::Delivered::kRefused) << "its beginning is gone";
}

TEST_F(RemoteTest, PartsOfMessagesOfDifferentSizesAreNotPutTogether) {
  const std::vector<std::byte> large(32'000);
  const auto deliver = [&](uint64_t bytes, uint64_t offset, std::span<const std::byte> part) {
    return nodes_.delegatee(1).deliver({0, llcl::kPortHandlers, 0, 0, bytes, offset, part});
  };
  ASSERT_EQ(deliver(100, 0, {}), delegatee::Delivered::kAccepted);
  EXPECT_EQ(deliver(large.size(), 0, large), delegatee::Delivered::kRefused);
  ASSERT_EQ(deliver(100, 0, {large.data(), 50}), delegatee::Delivered::kAccepted);
  EXPECT_EQ(deliver(100, 50, {large.data(), 51}), delegatee::Delivered::kRefused);
}

}  // namespace
}  // namespace nagaya::match
