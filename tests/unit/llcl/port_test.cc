// SPDX-License-Identifier: BSD-3-Clause
// Ports of one node. Between nodes: tests/unit/match, which runs over both.
#include "llcl/requests/port.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "llcl/own_board.h"

namespace nagaya::llcl {
namespace {

constexpr size_t kLongest = 1000;
constexpr PortHeader kHeader = {{1, 2, 3, 4}};

// No other node there is.
class Nowhere final : public RemoteNodes {
 public:
  bool has(nagaya_process) const override { return false; }
  int send(nagaya_process, uint8_t, const std::byte*, size_t, size_t,
           std::atomic<uint32_t>*) override {
    return -EINVAL;
  }
  bool has_backlog(nagaya_process) const override { return false; }
  int share(const void*, size_t, uint32_t&) override { return -EINVAL; }
  void unshare(uint32_t) override {}
  int read(nagaya_process, uint32_t, uint64_t, void*, size_t, std::atomic<uint32_t>&) override {
    return -EINVAL;
  }
  int read_pieces(nagaya_process, uint32_t, std::span<const nagaya_llcl_piece>,
                  std::atomic<uint32_t>&) override {
    return -EINVAL;
  }
};

class PortTest : public testing::Test {
 protected:
  PortTest() {
    for (uint32_t task = 0; task < 2; ++task)
      board_.attached[task] = mailbox::Owner::task(task, 1).bits;
  }
  int post(size_t bytes) {
    return sender_.post({0, 1}, 7, kHeader, {data_.data(), bytes, nullptr}, bytes,
                        Port::Body::kData);
  }
  void expect_message(const Incoming& incoming, size_t bytes) {
    EXPECT_EQ(incoming.kind(), 7);
    EXPECT_EQ(incoming.cell.header.words[3], 4u);
    ASSERT_EQ(incoming.bytes(), bytes);
    EXPECT_EQ(std::memcmp(incoming.body(), data_.data(), bytes), 0);
  }

  OwnBoard own_board_{2};
  Board& board_ = *own_board_;
  Nowhere nowhere_;
  Wait waits_[2] = {{board_, mailbox::Owner::task(0, 1)}, {board_, mailbox::Owner::task(1, 1)}};
  Port sender_{board_, mailbox::Owner::task(0, 1), kLongest, waits_[0], nowhere_};
  Port receiver_{board_, mailbox::Owner::task(1, 1), kLongest, waits_[1], nowhere_};
  std::vector<uint8_t> data_ = [] {
    std::vector<uint8_t> all(kLongest);
    std::iota(all.begin(), all.end(), uint8_t{0});
    return all;
  }();
};

TEST_F(PortTest, MessagesOfEveryFormArriveWholeAndInOrder) {
  const size_t sizes[] = {0, 1, 32, 33, kShortMaxBytes, kShortMaxBytes + 1, kLongest};
  for (const size_t bytes : sizes) ASSERT_EQ(post(bytes), 0);
  for (const size_t bytes : sizes) {
    Incoming incoming;
    ASSERT_TRUE(receiver_.take(incoming));
    expect_message(incoming, bytes);
    EXPECT_EQ(incoming.form(), bytes > kShortMaxBytes ? Form::kLent : Form::kShort);
    incoming.give_back();
  }
  Incoming incoming;
  EXPECT_FALSE(receiver_.take(incoming));
}

TEST_F(PortTest, ANoteSaysFromWhomItComes) {
  const std::vector<uint8_t> body(Port::kControlMaxBytes, 42);
  for (const size_t bytes : {size_t{8}, kNoteMaxBytes, kNoteMaxBytes + 1, Port::kControlMaxBytes}) {
    ASSERT_EQ(sender_.post_with_source({0, 1}, 3, kHeader, {body.data(), bytes, nullptr}, bytes),
              0);
    Incoming incoming;
    ASSERT_TRUE(receiver_.take(incoming));
    EXPECT_EQ(incoming.kind(), 3);
    ASSERT_TRUE(incoming.has_source());
    EXPECT_EQ(incoming.source().task, 0u);
    ASSERT_EQ(incoming.bytes(), bytes);
    EXPECT_EQ(std::memcmp(incoming.body(), body.data(), bytes), 0);
    incoming.give_back();
  }
}

TEST_F(PortTest, WhatIsNotWantedIsNotTaken) {
  ASSERT_EQ(post(8), 0);
  Incoming incoming;
  EXPECT_FALSE(
      receiver_.take_if([](uint8_t kind, const PortHeader&) { return kind != 7; }, incoming));
  EXPECT_TRUE(receiver_.take_if(
      [](uint8_t kind, const PortHeader& header) { return kind == 7 && header.words[0] == 1; },
      incoming));
  expect_message(incoming, 8);
}

TEST_F(PortTest, AFullPortRefusesAndNothingHasHappened) {
  size_t posted = 0;
  while (post(kLongest) == 0) ++posted;
  EXPECT_EQ(post(kLongest), -EAGAIN);
  EXPECT_EQ(post(1), -EAGAIN);
  for (size_t n = 0; n < posted; ++n) {
    Incoming incoming;
    ASSERT_TRUE(receiver_.take(incoming));
    expect_message(incoming, kLongest);
    incoming.give_back();
  }
  EXPECT_EQ(post(kLongest), 0);
}

TEST_F(PortTest, LoansThatAreOutLeaveNoBlock) {
  Incoming incoming;
  int error = 0;
  while ((error = post(kLongest)) == 0) ASSERT_TRUE(receiver_.take(incoming));  // given back: none
  EXPECT_EQ(error, -ENOBUFS);
  EXPECT_EQ(post(kShortMaxBytes), 0) << "a short message needs none";
}

TEST_F(PortTest, OnlyTasksThatTakePartAreReached) {
  EXPECT_TRUE(sender_.may_reach({0, 1}));
  EXPECT_FALSE(sender_.may_reach({0, 2}));
  EXPECT_FALSE(sender_.may_reach({1, 0}));
  board_.attached[1] = 0;
  EXPECT_FALSE(sender_.may_reach({0, 1}));
}

}  // namespace
}  // namespace nagaya::llcl
