// SPDX-License-Identifier: BSD-3-Clause
// Requests of handlers that wait for room.
#include "llcl/requests/parked.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

#include "llcl/own_board.h"

namespace nagaya::llcl {
namespace {

constexpr uint64_t kCells = 256;  // of a mailbox

class ParkedTest : public testing::Test {
 protected:
  ParkedTest() {
    for (uint32_t task = 0; task < 3; ++task)
      board_.attached[task] = mailbox::Owner::task(task, 1).bits;
    board_.task_waiters[0].handler_state = TaskWaiter::kHandling;
  }
  static ActiveMessage numbered(uint32_t number) {
    ActiveMessage message{};
    message.handler = number;
    return message;
  }
  void fill(uint32_t task) {
    while (post_message(board_, mailbox::Owner::task(0, 1), task, numbered(0)) == 0) continue;
  }
  void expect_taken(uint32_t task, uint32_t number) {
    const mailbox::Message message = board_.mailboxes[task].take();
    ASSERT_TRUE(message);
    ActiveMessage active;
    std::memcpy(&active, message.payload, sizeof active);
    EXPECT_EQ(active.handler, number);
  }
  void take_all(uint32_t task) {
    while (board_.mailboxes[task].take()) continue;
  }
  void park(uint32_t task, uint32_t number) {
    parked_.add(task, numbered(number), {NAGAYA_COUNTER, nullptr, &done_});
  }
  void retry() {
    parked_.retry([](const Command&) { return false; });
  }
  uint32_t handler_state() { return handler_state_of(board_, 0); }

  OwnBoard own_board_{3};
  Board& board_ = *own_board_;
  std::unique_ptr<task::TaskRecord> record_ = std::make_unique<task::TaskRecord>();
  Parked parked_{board_, *record_, mailbox::Owner::task(0, 1)};
  uint64_t done_ = 0;
};

TEST_F(ParkedTest, AMessageIsPostedOnceThereIsRoomAndThenComplete) {
  fill(1);
  park(1, 7);
  retry();
  EXPECT_EQ(done_, 0u);
  EXPECT_TRUE(parked_.has_messages_to(1));
  for (uint64_t n = 0; n < kCells; ++n) expect_taken(1, 0);
  take_all(1);  // gives the last cell back
  retry();
  EXPECT_EQ(done_, 1u);
  EXPECT_TRUE(parked_.is_empty());
  expect_taken(1, 7);
}

TEST_F(ParkedTest, MessagesToOneTaskKeepTheirOrderAndOthersPassThem) {
  fill(1);
  park(1, 1), park(1, 2), park(2, 3), park(2, 4);
  retry();
  EXPECT_EQ(done_, 2u);
  expect_taken(2, 3), expect_taken(2, 4);
  take_all(1);
  retry();
  expect_taken(1, 1), expect_taken(1, 2);
  EXPECT_EQ(done_, 4u);
}

TEST_F(ParkedTest, AReceiverThatHasEndedIsAnErrorAndItsSuccessorGetsNothing) {
  fill(1);
  park(1, 1);
  take_all(1);
  board_.attached[1] = mailbox::Owner::task(1, 2).bits;
  retry();
  EXPECT_EQ(done_, NAGAYA_COUNTER_FAILED + 1);
  EXPECT_TRUE(parked_.is_empty());
  EXPECT_FALSE(board_.mailboxes[1].take());
}

TEST_F(ParkedTest, ATaskThatHasParkedMuchTellsItsSendersUntilHalfOfItIsGone) {
  fill(1);
  for (uint32_t n = 0; n < Parked::kMax; ++n) park(1, n);
  EXPECT_EQ(handler_state(), TaskWaiter::kHandling);
  park(1, Parked::kMax);
  EXPECT_EQ(handler_state(), TaskWaiter::kOverloaded);
  for (uint64_t left = Parked::kMax + 1; left > Parked::kMax / 2; left -= kCells) {
    EXPECT_EQ(handler_state(), TaskWaiter::kOverloaded) << left;
    take_all(1);
    retry();
  }
  EXPECT_EQ(handler_state(), TaskWaiter::kHandling);
}

TEST_F(ParkedTest, CommandsArePushedInTheirOrderUntilTheLaneIsFull) {
  for (uint32_t n = 0; n < 3; ++n) parked_.add_command([=](Command& command) { command.node = n; });
  uint32_t pushed = 0;
  parked_.retry([&](const Command& command) {
    if (pushed == 2) return false;
    EXPECT_EQ(command.node, pushed++);
    return true;
  });
  EXPECT_EQ(pushed, 2u);
  EXPECT_TRUE(parked_.has_commands());
}

}  // namespace
}  // namespace nagaya::llcl
