// SPDX-License-Identifier: BSD-3-Clause
// A process of another node can send anything, and must not harm this one by it.
#include <cstring>

#include "match/pair.h"

namespace nagaya::match {
namespace {

constexpr Envelope kEnvelope = {7, 0, 3};

// Task 0 of node 1 hears what the test makes up.
class ForeignTest : public Pair {
 protected:
  static constexpr nagaya_process kOther = {0, 0};

  ForeignTest() : Pair(2) {}

  void say(CellKind kind, const Cell& cell, size_t bytes, nagaya_process source = kOther) {
    const auto* const body = reinterpret_cast<const std::byte*>(&cell);
    ASSERT_EQ(nodes_.delegatee(1).deliver({0,
                                           llcl::kTwoSidedHandlers + static_cast<uint32_t>(kind),
                                           source.node,
                                           source.task,
                                           bytes,
                                           0,
                                           {body, bytes}}),
              delegatee::Delivered::kAccepted);
    while (task(1).progress() != 0) continue;
  }
  uint64_t dropped() { return nodes_.board(1).dropped.load(); }
  bool has_come() {
    nagaya_message_description found;
    return task(1).probe({7, NAGAYA_ANY_SOURCE, NAGAYA_ANY_TAG}, &found) == 0;
  }
  static Cell cell_of() {
    Cell cell{};
    cell.envelope = kEnvelope;
    return cell;
  }
};

TEST_F(ForeignTest, AnAnswerToNothingIsDropped) {
  uint64_t expected = 0;
  for (const CellKind kind : {CellKind::kCopied, CellKind::kKept, CellKind::kCancelled})
    for (const uint64_t handle : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32 | 1,
                                  uint64_t{0x4141414141414141}, UINT64_MAX}) {
      Cell cell = cell_of();
      cell.answer.send = handle;
      say(kind, cell, bytes_of(kind));
      EXPECT_EQ(dropped(), ++expected);
    }
}

TEST_F(ForeignTest, AnAnswerOfAnotherProcessThanTheReceiverIsDropped) {
  const std::vector<int> data = numbers(50'000, 1);
  nagaya_send send = send_of(data, kEnvelope, 0);
  ASSERT_EQ(task(1).send(send), 0);
  Cell cell = cell_of();
  cell.answer.send = send.handle;
  for (const nagaya_process other : {nagaya_process{0, 1}, nagaya_process{2, 0}}) {
    say(CellKind::kCopied, cell, bytes_of(CellKind::kCopied), other);
    EXPECT_FALSE(send.is_complete);
  }
  say(CellKind::kCopied, cell, bytes_of(CellKind::kCopied));
  EXPECT_TRUE(send.is_complete);
  send.is_complete = 0;
  say(CellKind::kCopied, cell, bytes_of(CellKind::kCopied));
  EXPECT_FALSE(send.is_complete) << "it was answered: the handle is nobody's";
}

TEST_F(ForeignTest, ABodyElsewhereIsNotReadOrGivenBack) {
  std::atomic<uint32_t> word = 5;
  std::byte secret[64] = {std::byte{42}};
  Cell cell = cell_of();
  cell.eager = {sizeof secret, {secret, &word, 1}};
  std::vector<int> buffer(16);
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  task(1).receive(receive);
  say(CellKind::kEager, cell, sizeof cell);
  EXPECT_FALSE(receive.is_complete);
  EXPECT_EQ(word, 5u);
  EXPECT_EQ(dropped(), 1u);
  ASSERT_EQ(task(1).cancel(receive), 0);
}

TEST_F(ForeignTest, ALongMessageIsTheSendersOwn) {
  std::byte secret[64] = {std::byte{42}};
  for (const nagaya_process claimed :
       {process(1), nagaya_process{0, 1}, nagaya_process{7, 0}, nagaya_process{0, UINT32_MAX}}) {
    for (const CellKind kind : {CellKind::kRendezvous, CellKind::kCancel}) {
      Cell cell = cell_of();
      cell.rendezvous = {sizeof secret, secret, 1, claimed, 1, 0};
      say(kind, cell, sizeof cell);
      EXPECT_FALSE(has_come());
    }
  }
  EXPECT_EQ(dropped(), 8u);
}

TEST_F(ForeignTest, ACellOfAnotherSizeIsDropped) {
  uint64_t expected = 0;
  for (const CellKind kind : {CellKind::kRendezvous, CellKind::kCancel, CellKind::kCopied,
                              CellKind::kKept, CellKind::kCancelled})
    for (const size_t bytes : {size_t{0}, kHeaderBytes, bytes_of(kind) - 1, bytes_of(kind) + 1}) {
      if (bytes > sizeof(Cell)) continue;
      Cell cell = cell_of();
      cell.rendezvous.sender = kOther;
      say(kind, cell, bytes);
      EXPECT_EQ(dropped(), ++expected) << static_cast<int>(kind) << " of " << bytes;
    }
  say(CellKind::kInline, cell_of(), kHeaderBytes - 1);
  EXPECT_EQ(dropped(), ++expected);
  for (const int kind : {7, 100, 0xff}) {
    say(static_cast<CellKind>(kind), cell_of(), sizeof(Cell));
    EXPECT_EQ(dropped(), ++expected);
  }
  EXPECT_FALSE(has_come());
}

}  // namespace
}  // namespace nagaya::match
