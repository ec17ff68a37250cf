// SPDX-License-Identifier: BSD-3-Clause
// A process of another node can send anything, and must not harm this one by it.
#include <errno.h>

#include <cstring>
#include <span>

#include "match/pair.h"

namespace nagaya::match {
namespace {

constexpr Envelope kEnvelope = {7, 0, 3};

// As a loan lies in a cell.
struct PortCellOfTest {
  nagaya_process source;
  llcl::PortCell::Lent lent;
};

// Task 0 of node 1 hears what the test makes up.
class ForeignTest : public Pair {
 protected:
  static constexpr nagaya_process kOther = {0, 0};

  ForeignTest() : Pair(2) {}

  template <class Body>
  void say(Kind kind, const Body& body, nagaya_process source = kOther) {
    std::byte message[sizeof(Header) + sizeof body];
    const Header header = {kEnvelope, 0};
    std::memcpy(message, &header, sizeof header);
    std::memcpy(message + sizeof header, &body, sizeof body);
    say_bytes(static_cast<uint32_t>(kind), message, source);
  }
  void say_bytes(uint32_t kind, std::span<const std::byte> message,
                 nagaya_process source = kOther) {
    nodes_.delegatee(1).deliver(
        {0, llcl::kPortHandlers + kind, source.node, source.task, message.size(), 0, message});
    while (task(1).progress() != 0) continue;
  }
  uint64_t dropped() { return nodes_.board(1).dropped.load(); }
  bool has_come() {
    nagaya_message_description found;
    return task(1).probe({7, NAGAYA_ANY_SOURCE, NAGAYA_ANY_TAG}, &found) == 0;
  }
};

TEST_F(ForeignTest, AnAnswerToNothingIsDropped) {
  uint64_t expected = 0;
  for (const Kind kind : {Kind::kCopied, Kind::kNotCancelled, Kind::kCancelled})
    for (const uint64_t handle : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32 | 1,
                                  uint64_t{0x4141414141414141}, UINT64_MAX}) {
      say(kind, Handle{handle});
      EXPECT_EQ(dropped(), ++expected);
    }
}

TEST_F(ForeignTest, AnAnswerOfAnotherProcessThanTheReceiverIsDropped) {
  const std::vector<int> data = numbers(50'000, 1);
  nagaya_send send = send_of(data, kEnvelope, 0);
  ASSERT_EQ(task(1).send(send), 0);
  const Handle handle{send.handle};
  for (const nagaya_process other : {nagaya_process{0, 1}, nagaya_process{2, 0}}) {
    say(Kind::kCopied, handle, other);
    EXPECT_FALSE(send.is_complete);
  }
  say(Kind::kCopied, handle);
  EXPECT_TRUE(send.is_complete);
  send.is_complete = 0;
  say(Kind::kCopied, handle);
  EXPECT_FALSE(send.is_complete) << "it was answered: the handle is nobody's";
}

// Its form would say that a body lies at an address of the sender's choice.
TEST_F(ForeignTest, ABodyElsewhereIsNotReadOrGivenBack) {
  std::atomic<uint32_t> word = 5;
  std::byte secret[64] = {std::byte{42}};
  const PortCellOfTest lent{{}, {sizeof secret, {secret, &word, 1}}};
  std::vector<int> buffer(16);
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  task(1).receive(receive);
  for (const auto form : {llcl::Form::kNote, llcl::Form::kLent}) say(static_cast<Kind>(form), lent);
  EXPECT_FALSE(receive.is_complete);
  EXPECT_EQ(word, 5u);
  EXPECT_EQ(dropped(), 2u);
  ASSERT_EQ(task(1).cancel(receive), 0);
}

TEST_F(ForeignTest, ALongMessageLiesAtItsSenderWhateverItSays) {
  std::byte secret[64] = {std::byte{42}};
  std::vector<int> buffer(16);
  nagaya_receive receive = receive_of(buffer, kEnvelope);
  task(1).receive(receive);
  for (const uint32_t is_in_runs : {0u, 1u})
    say(Kind::kRendezvous, Rendezvous{{sizeof secret, secret, 77, is_in_runs}, 1});
  progress();
  EXPECT_EQ(buffer, std::vector<int>(16));
  EXPECT_TRUE(receive.is_complete);
  EXPECT_EQ(receive.error, -EINVAL) << "the sender has no such region";
}

// Runs that are none, that lie nowhere or before their region, or that hold less than they should.
TEST_F(ForeignTest, ALayoutThatCannotBeEndsItsReceive) {
  std::byte memory[72] = {};
  std::byte* const data = memory + 8;
  std::byte* const end = data + 64;
  const uint32_t region = nodes_.board(0).regions->add(mailbox::Owner::task(0, 1), data, 64);
  constexpr size_t kMuch = SIZE_MAX / 2 + 1;
  const nagaya_runs all[] = {
      {data, 0, 1, 0},         {data, 64, 0, 0},    {data, kMuch, 2, 0}, {data - 1, 64, 1, 0},
      {data, 8, 8, -8},        {data, 8, 7, 8},     {end, 8, 8, 8},      {data, 8, 8, INT64_MAX},
      {data, kMuch, kMuch, 0}, {data + 8, 8, 8, 8}, {data, 1, kMuch, 1},
  };
  for (const nagaya_runs& runs : all) {
    std::vector<int> buffer(16);
    nagaya_receive receive = receive_of(buffer, kEnvelope);
    task(1).receive(receive);
    struct {
      Rendezvous rendezvous;
      nagaya_runs runs;
    } const body{{{64, data, region, 1}, 1}, runs};
    say(Kind::kRendezvous, body);
    progress();
    ASSERT_TRUE(receive.is_complete);
    const bool is_possible = runs.bytes == 1;  // it says more than there is; nobody reads that
    EXPECT_EQ(receive.error, is_possible ? 0 : -EINVAL) << &runs - all;
  }
}

TEST_F(ForeignTest, AMessageOfAnotherSizeIsDropped) {
  const std::byte bytes[100] = {};
  uint64_t expected = 0;
  const std::vector<std::byte> much((llcl::kLayoutMaxRuns + 2) * sizeof(nagaya_runs));
  for (const Kind kind :
       {Kind::kRendezvous, Kind::kCancel, Kind::kCopied, Kind::kNotCancelled, Kind::kCancelled}) {
    const size_t whole =
        sizeof(Header) + (kind == Kind::kRendezvous ? sizeof(Rendezvous) : sizeof(Handle));
    say_bytes(static_cast<uint32_t>(kind), much);
    EXPECT_EQ(dropped(), ++expected);
    for (const size_t size : {size_t{0}, sizeof(Header), whole - 1, whole + 1, sizeof bytes}) {
      say_bytes(static_cast<uint32_t>(kind), {bytes, size});
      EXPECT_EQ(dropped(), ++expected) << static_cast<int>(kind) << " of " << size;
    }
  }
  say_bytes(static_cast<uint32_t>(Kind::kMessage), {bytes, sizeof(Header) - 1});
  EXPECT_EQ(dropped(), ++expected);
  for (const uint32_t kind : {7u, 63u, 64u, 100u, 0xffu}) {
    say_bytes(kind, bytes);
    EXPECT_EQ(dropped(), ++expected);
  }
  EXPECT_FALSE(has_come());
}

}  // namespace
}  // namespace nagaya::match
