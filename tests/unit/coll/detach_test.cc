// SPDX-License-Identifier: BSD-3-Clause
// Roots of broadcasts that want their blocks back before all have read them.
#include <chrono>

#include "moving.h"

namespace nagaya::coll {
namespace {

class Detach : public Move {};

// The root's columns are changed before anybody has read them; but one is reading just then.
TEST_F(Detach, ARootGetsItsColumnsBackBeforeTheyAreRead) {
  constexpr size_t kRows = 1000, kColumns = 9;
  Members members(3);
  begin(members, NAGAYA_BCAST, 0);
  std::vector<nagaya_runs> runs(3);
  for (uint32_t rank = 0; rank < 3; ++rank) {
    runs[rank] = columns(receive_[rank], kRows, kColumns, kRows + 8);
    (rank == 0 ? all_[rank].send : all_[rank].receive) = in_runs(runs[rank]);
  }
  all_[0].may_detach = 1;
  fill(runs[0]);
  auto root = members.start(0, all_[0]);
  EXPECT_FALSE(root->advance());
  Detachable& word = *root->line(0).direct->detachable;
  EXPECT_EQ(word.begin_reading(), nullptr);
  EXPECT_TRUE(root->detach());
  EXPECT_FALSE(root->has_no_readers());
  word.end_reading();
  EXPECT_TRUE(root->has_no_readers());
  std::fill(receive_[0].begin(), receive_[0].end(), std::byte{0x11});
  for (const uint32_t rank : {1u, 2u}) {
    EXPECT_TRUE(members.start(rank, all_[rank])->advance());
    expect_filled(runs[rank]);
  }
  EXPECT_TRUE(root->advance());
  EXPECT_EQ(all_[0].operation, nullptr);
}

TEST_F(Detach, ARootMakesNoCopyIfAllHaveBegunToRead) {
  Members members(2);
  Bytes block;
  begin(members, NAGAYA_BCAST, 0);
  all_[0].send = blocks(block, 5000, 1);
  all_[0].may_detach = 1;
  auto root = members.start(0, all_[0]);
  EXPECT_FALSE(root->advance());
  Detachable& word = *root->line(0).direct->detachable;
  EXPECT_EQ(word.begin_reading(), nullptr);
  EXPECT_FALSE(root->detach());
  EXPECT_FALSE(root->has_no_readers());
  word.end_reading();
  EXPECT_TRUE(root->has_no_readers());
}

// A reader whose barrier before has not ended tells nobody that it has left the broadcast.
TEST_F(Detach, AReaderWakesTheRootThatWaitsForItsBlock) {
  Members members(3);
  const uint32_t task_of_root = members.team(0).group().members()[0];
  nagaya_collective barriers[2] = {}, sent = {}, got = {};
  Bytes from, to;
  sent.kind = got.kind = NAGAYA_BCAST;
  sent.may_detach = 1;
  sent.send = blocks(from, 5000, 1);
  got.receive = blocks(to, 5000, 1);
  std::unique_ptr<Operation> waiting[2];
  for (const uint32_t rank : {0u, 1u}) {
    waiting[rank] = members.start(rank, barriers[rank]);
    EXPECT_FALSE(waiting[rank]->advance());
  }
  auto root = members.start(0, sent);
  EXPECT_FALSE(root->advance());
  llcl::Board& board = members.board();
  mailbox::Doorbell& bell = board.ports[task_of_root].bell();
  const uint32_t armed = bell.arm();
  board.asleep = 1;
  board.sleepers[task_of_root].count = 1;
  EXPECT_TRUE(members.start(1, got)->advance());
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::chrono::nanoseconds kLongest = std::chrono::seconds(5);
  const auto deadline = (begin.time_since_epoch() + kLongest).count();
  bell.sleep(armed, static_cast<uint64_t>(deadline));  // steady_clock is CLOCK_MONOTONIC
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLongest) << "nobody has rung";
}

// Each of the others gets it in its own way; the root's block is listed or not, and is taken from
// its memory or from the copy that it has left.
TEST_F(Detach, ADetachableBlockGoesWhereverItsReceiversWantIt) {
  constexpr size_t kBytes = 5000, kAhead = 24;
  const ptrdiff_t ahead = kAhead;
  for (const bool is_listed : {false, true})
    for (const bool is_detached : {false, true}) {
      Members members(3);
      begin(members, NAGAYA_BCAST, 0);
      Bytes from(kAhead + kBytes), stored, listed(kAhead + kBytes);
      fill(from.data() + kAhead, kBytes, 0, 0);
      all_[0].may_detach = 1;
      all_[0].send = layout::equal_blocks(from.data() + kAhead, kBytes);
      if (is_listed) all_[0].send = layout::listed_blocks(from.data(), &kBytes, &ahead);
      all_[1].receive.bytes = kBytes;
      all_[1].store = [](void* context, uint32_t, const void* data, size_t bytes) {
        const auto* const first = static_cast<const std::byte*>(data);
        static_cast<Bytes*>(context)->assign(first, first + bytes);
      };
      all_[1].store_context = &stored;
      all_[2].receive = layout::listed_blocks(listed.data(), &kBytes, &ahead);
      auto root = members.start(0, all_[0]);
      EXPECT_FALSE(root->advance());
      if (is_detached) {
        EXPECT_TRUE(root->detach());
        std::fill(from.begin(), from.end(), std::byte{0x11});
      }
      for (const uint32_t rank : {1u, 2u}) EXPECT_TRUE(members.start(rank, all_[rank])->advance());
      EXPECT_TRUE(root->advance());
      ASSERT_EQ(stored.size(), kBytes) << is_listed << is_detached;
      EXPECT_TRUE(has(stored.data(), kBytes, 0, 0)) << is_listed << is_detached;
      EXPECT_TRUE(has(listed.data() + kAhead, kBytes, 0, 0)) << is_listed << is_detached;
      EXPECT_EQ(all_[1].error, 0);
      EXPECT_EQ(all_[2].error, 0);
    }
}

TEST_F(Detach, ARootGetsItsBlockBackWhileItWaitsForALine) {
  constexpr size_t kBytes = 5000, kCount = MemberArea::kDepth + 1;
  Members members(2);
  std::vector<nagaya_collective> sent(kCount), got(kCount);
  std::vector<Bytes> blocks_sent(kCount), blocks_got(kCount);
  std::vector<std::unique_ptr<Operation>> roots;
  for (size_t n = 0; n < kCount; ++n) {
    sent[n].kind = got[n].kind = NAGAYA_BCAST;
    sent[n].may_detach = 1;
    sent[n].send = blocks(blocks_sent[n], kBytes, 1);
    got[n].receive = blocks(blocks_got[n], kBytes, 1);
    fill(blocks_sent[n].data(), kBytes, static_cast<uint32_t>(n), 0);
    roots.push_back(members.start(0, sent[n]));
    EXPECT_FALSE(roots[n]->advance());
    EXPECT_TRUE(roots[n]->detach());
    EXPECT_TRUE(roots[n]->has_no_readers());
    std::fill(blocks_sent[n].begin(), blocks_sent[n].end(), std::byte{0x11});
  }
  for (size_t n = 0; n < kCount; ++n) {
    const auto receiver = members.start(1, got[n]);
    while (!receiver->advance()) roots.back()->advance();
    EXPECT_TRUE(has(blocks_got[n].data(), kBytes, static_cast<uint32_t>(n), 0)) << n;
    EXPECT_TRUE(n + 1 == kCount || roots[n]->advance());
  }
  while (!roots.back()->advance()) continue;
}

}  // namespace
}  // namespace nagaya::coll
