// SPDX-License-Identifier: BSD-3-Clause
// A receiver on another node that does not keep up: its node's backlog for it is bounded, and no
// message, answer or other task waits for that.
#include "match/pair.h"

namespace nagaya::match {
namespace {

constexpr Envelope kEnvelope = {7, 0, 3};
constexpr size_t kBudgetBytes = 4 << 20;  // board_node.cc

class BacklogTest : public Pair {
 protected:
  BacklogTest() : Pair(2) {}

  // Sends `count` messages of `bytes` to task 1, which does not look.
  void send_many(size_t count, size_t bytes) {
    data_ = numbers(bytes / sizeof(int), 1);
    sends_.assign(count, send_of(data_, kEnvelope));
    for (nagaya_send& send : sends_) {
      ASSERT_EQ(task(0).send(send), 0);
      most_held_ = std::max(most_held_, held());
    }
  }
  void receive_all() {
    for (size_t n = 0; n < sends_.size(); ++n) {
      std::vector<int> buffer(data_.size());
      nagaya_receive receive = receive_of(buffer, kEnvelope);
      task(1).receive(receive);
      progress();
      ASSERT_TRUE(receive.is_complete) << n;
      ASSERT_EQ(buffer, data_) << n;
    }
    progress();
    for (const nagaya_send& send : sends_) ASSERT_TRUE(send.is_complete);
  }
  uint64_t held() { return nodes_.delegatee(1).backlog_bytes(0); }

  std::vector<int> data_;
  std::vector<nagaya_send> sends_;
  uint64_t most_held_ = 0;
};

TEST_F(BacklogTest, LongMessagesBeyondTheBudgetStayWithTheirSender) {
  const size_t bytes = 64 << 10;
  send_many(1000, bytes);
  EXPECT_GT(most_held_, kBudgetBytes);
  EXPECT_LT(most_held_, kBudgetBytes + 2 * bytes + 1000 * 2 * sizeof(llcl::Incoming));
  receive_all();
}

TEST_F(BacklogTest, ShortMessagesBeyondTheBudgetStayWithTheirSender) {
  constexpr size_t kMessages = 100'000;
  send_many(kMessages, 4);
  const auto is_at_sender = [](const nagaya_send& send) { return !send.is_complete; };
  const auto waiting = std::count_if(sends_.begin(), sends_.end(), is_at_sender);
  EXPECT_GT(waiting, 1000);
  EXPECT_LT(most_held_, kBudgetBytes + static_cast<size_t>(waiting) * 2 * sizeof(llcl::Incoming));
  receive_all();
}

TEST_F(BacklogTest, IsOverWhenTheTaskHasReadWhatWasHeldForIt) {
  send_many(200, 64 << 10);
  EXPECT_EQ(task(0).try_send(process(1), kEnvelope, {data_.data(), 4}, nullptr), -EAGAIN);
  receive_all();
  // Its node says so with the next receipts.
  std::vector<int> buffer(1);
  const auto is_at_once = [&] {
    return task(0).try_send(process(1), kEnvelope, {data_.data(), 4}, nullptr) == 0;
  };
  bool was_at_once = false;
  for (int n = 0; n < 20 && !was_at_once; ++n) {
    was_at_once = is_at_once();
    const std::vector<int> one = {1};
    nagaya_send send = send_of(one, kEnvelope);
    const int error = was_at_once ? 0 : task(0).send(send);
    EXPECT_EQ(error, 0);
    nagaya_receive receive = receive_of(buffer, kEnvelope);
    task(1).receive(receive);
    progress();
    ASSERT_TRUE(receive.is_complete);
  }
  EXPECT_TRUE(was_at_once);
  EXPECT_LT(held(), kBudgetBytes);
}

// They say where other data go: a proof covers them only if they are no rendezvous.
TEST_F(BacklogTest, ControlDataAreHandedOverAllTheSame) {
  send_many(200, 64 << 10);
  const std::vector<int> places = numbers(NAGAYA_CONTROL_MAX / sizeof(int), 7);
  nagaya_send send = send_of(places, {7, 0, 4});
  ASSERT_EQ(task(0).send(send), 0);
  EXPECT_FALSE(send.is_complete) << "a usual one";
  nagaya_send control = send_of(places, {7, 0, 5});
  control.is_control = 1;
  ASSERT_EQ(task(0).send(control), 0);
  EXPECT_TRUE(control.is_complete);
  EXPECT_EQ(wire_of(0).last_data_bytes, 0u);
  std::vector<int> buffer(places.size());
  nagaya_receive receive = receive_of(buffer, {7, 0, 5});
  task(1).receive(receive);
  progress();
  EXPECT_TRUE(receive.is_complete);
  EXPECT_EQ(buffer, places);
  control.bytes = NAGAYA_CONTROL_MAX + 1;
  EXPECT_EQ(task(0).send(control), -EMSGSIZE);
  nagaya_receive usual = receive_of(buffer, {7, 0, 4});
  task(1).receive(usual);
  receive_all();
  EXPECT_TRUE(send.is_complete);
}

TEST_F(BacklogTest, OnlyDataOfTheUserAreLeftOpen) {
  const std::vector<int> data = numbers(100, 1), long_one = numbers(50'000, 1);
  ASSERT_EQ(task(0).try_send(process(1), kEnvelope, {data.data(), 400}, nullptr), 0);
  EXPECT_EQ(wire_of(0).last_data_bytes, 400u);
  nagaya_send announced = send_of(long_one, {7, 0, 4});
  ASSERT_EQ(task(0).send(announced), 0);
  EXPECT_EQ(wire_of(0).last_data_bytes, 0u);
  for (auto [size, tag] : {std::pair(100, 3), std::pair(50'000, 4)}) {
    std::vector<int> buffer(size);
    nagaya_receive receive = receive_of(buffer, {7, 0, tag});
    task(1).receive(receive);
    progress();
    EXPECT_TRUE(receive.is_complete);
  }
}

// The message that the receiver wants first was sent last.
TEST_F(BacklogTest, KeepsNoMessageFromBeingMatched) {
  send_many(200, 64 << 10);
  const std::vector<int> wanted = {42};
  nagaya_send send = send_of(wanted, {7, 0, 4});
  ASSERT_EQ(task(0).send(send), 0);
  std::vector<int> buffer(1);
  nagaya_receive receive = receive_of(buffer, {7, 0, 4});
  task(1).receive(receive);
  progress();
  EXPECT_TRUE(receive.is_complete);
  EXPECT_EQ(buffer, wanted);
  receive_all();
}

TEST_F(BacklogTest, DelaysNoAnswersAndNoCancels) {
  // Task 1 has sent before it stopped looking: its messages are answered.
  const std::vector<int> long_one = numbers(50'000, 1);
  nagaya_send other_way = send_of(long_one, kEnvelope, 0);
  ASSERT_EQ(task(1).send(other_way), 0);
  send_many(200, 64 << 10);
  nagaya_send& last = sends_.back();
  ASSERT_FALSE(last.is_complete);
  ASSERT_EQ(task(0).cancel(last), 0);
  std::vector<int> buffer(50'000);
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  task(0).receive(receive);
  progress();
  EXPECT_TRUE(receive.is_complete);
  EXPECT_TRUE(other_way.is_complete);
  EXPECT_TRUE(last.is_cancelled);
}

// The backlog ends while a send waits to go by rendezvous.
TEST_F(BacklogTest, ASendThatBecomesEagerIsKnownToNobody) {
  send_many(200, 64 << 10);
  wire_of(0).most_shared = wire_of(0).shared;
  std::vector<nagaya_send> more(3, send_of(data_, kEnvelope));
  for (nagaya_send& send : more) ASSERT_EQ(task(0).send(send), 0);
  wire_of(0).send_error = -EAGAIN;
  wire_of(0).most_shared = 1000;
  task(0).progress();  // a region each, but no room
  nodes_.board(0).backlogs->note(1, 0, false);
  wire_of(0).send_error = 0;
  std::vector<int> buffer(data_.size());
  for (size_t n = 0; n < 203; ++n) {
    nagaya_receive receive = receive_of(buffer, kEnvelope);
    task(1).receive(receive);
    progress();
    ASSERT_TRUE(receive.is_complete) << n;
  }
  for (const nagaya_send& send : more) {
    EXPECT_TRUE(send.is_complete);
    EXPECT_EQ(send.handle, 0u);
  }
  EXPECT_EQ(wire_of(0).shared, 0);
}

TEST_F(BacklogTest, AMessageThatItsNodeDoesNotFinishIsGoneWithTheNextOne) {
  const std::vector<std::byte> part(1 << 10);
  const auto of_a_message = [&](uint64_t bytes) {
    return delegatee::MessagePart{0, llcl::kPortHandlers, 0, 0, bytes, 0, part};
  };
  ASSERT_EQ(nodes_.delegatee(1).deliver(of_a_message(2 * part.size())),
            delegatee::Delivered::kAccepted);
  EXPECT_GE(held(), 2 * part.size());
  delegatee::MessagePart next = of_a_message(sizeof(llcl::PortHeader));
  next.part = std::span(part).first(sizeof(llcl::PortHeader));
  ASSERT_EQ(nodes_.delegatee(1).deliver(next), delegatee::Delivered::kAccepted);
  EXPECT_EQ(held(), 0u);
}

TEST_F(BacklogTest, OfATaskThatHasEndedGoesWithIt) {
  send_many(200, 64 << 10);
  EXPECT_GT(held(), kBudgetBytes);
  nodes_.board(1).attached[0] = 0;
  nodes_.delegatee(1).reclaim(0);
  EXPECT_EQ(held(), 0u);
}

}  // namespace
}  // namespace nagaya::match
