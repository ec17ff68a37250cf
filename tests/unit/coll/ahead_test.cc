// SPDX-License-Identifier: BSD-3-Clause
// How far a member may be ahead of the others, and that collectives end in any order.
#include <errno.h>

#include "coll/pending_collectives.h"
#include "layout/blocks.h"
#include "members.h"

namespace nagaya::coll {
namespace {

struct Bcasts {
  explicit Bcasts(size_t count) : data(count), all(count) {
    for (size_t n = 0; n < count; ++n) {
      all[n].kind = NAGAYA_BCAST;
      data[n] = n;
    }
  }
  nagaya_collective& sent(size_t n) {
    all[n].send = layout::equal_blocks(&data[n], sizeof data[n]);
    return all[n];
  }
  nagaya_collective& received(size_t n) {
    data[n] = SIZE_MAX;
    all[n].receive = layout::equal_blocks(&data[n], sizeof data[n]);
    return all[n];
  }

  std::vector<size_t> data;
  std::vector<nagaya_collective> all;
};

TEST(Ahead, ARootRunsAheadAsFarAsThereAreLinesAndNoFurther) {
  Members members(2);
  constexpr size_t kCount = 5 * NAGAYA_COLL_AHEAD;
  Bcasts from(kCount), to(kCount);
  std::vector<std::unique_ptr<Operation>> sent;
  for (size_t n = 0; n < kCount; ++n) sent.push_back(members.start(0, from.sent(n)));
  const auto lines_of = [](size_t n) {
    return n < DeepMemberArea::kFirstCollective ? MemberArea::kDepth : DeepMemberArea::kDepth;
  };
  size_t next = 0;
  for (size_t received = 0; received < kCount; ++received) {
    while (next < kCount && sent[next]->advance()) ++next;
    size_t expected = received;
    while (expected < kCount && expected < received + lines_of(expected)) ++expected;
    ASSERT_EQ(next, expected) << received;
    ASSERT_TRUE(members.start(1, to.received(received))->advance()) << received;
    EXPECT_EQ(to.data[received], received);
  }
}

TEST(Ahead, AMemberThatHasLeftALaterOneKeepsTheLineOfAnEarlierOne) {
  Members members(2);
  // The first is a barrier that the other has not begun; the next ones are over for the root.
  nagaya_collective barriers[2]{};
  const auto barrier = members.start(0, barriers[0]);
  EXPECT_FALSE(barrier->advance());
  constexpr size_t kCount = MemberArea::kDepth;
  Bcasts from(kCount), to(kCount);
  std::vector<std::unique_ptr<Operation>> sent;
  for (size_t n = 0; n < kCount; ++n) {
    sent.push_back(members.start(0, from.sent(n)));
    EXPECT_EQ(sent[n]->advance(), n + 1 < kCount) << n;
  }
  EXPECT_TRUE(members.start(1, barriers[1])->advance());
  EXPECT_TRUE(barrier->advance());
  EXPECT_TRUE(sent.back()->advance());
  for (size_t n = 0; n < kCount; ++n) {
    EXPECT_TRUE(members.start(1, to.received(n))->advance());
    EXPECT_EQ(to.data[n], n);
  }
}

TEST(Ahead, ALaterOneWaitsForItsTurn) {
  Members members(2);
  Bcasts from(2), to(2);
  const auto first = members.start(0, from.sent(0)), second = members.start(0, from.sent(1));
  EXPECT_FALSE(second->advance());
  EXPECT_TRUE(first->advance());
  EXPECT_TRUE(second->advance());
  for (size_t n = 0; n < 2; ++n) {
    EXPECT_TRUE(members.start(1, to.received(n))->advance());
    EXPECT_EQ(to.data[n], n);
  }
}

// A number that was given, and never begins, stops all later ones.
TEST(Ahead, OneThatIsRefusedTakesNoTurn) {
  Members members(2);
  llcl::Wait full(members.board(), mailbox::Owner::task(1, 1));
  int others[llcl::Wait::kProgressesMax + 1];
  size_t added = 0;
  while (full.add({[](void*) { return 0; }, 1, [](void*) { return mailbox::kNever; }, nullptr,
                   &others[added]}) == 0)
    ASSERT_LT(++added, std::size(others));
  nagaya_collective refused{};
  EXPECT_EQ(PendingCollectives::own(full).start(members.team(0), refused,
                                                algorithm_of(refused, members.team(0))),
            -ENOSPC);
  EXPECT_TRUE(members.team(0).is_idle());
  Bcasts from(1);
  EXPECT_TRUE(members.start(0, from.sent(0))->advance());
}

TEST(Ahead, ASenderOfLongDataWaitsUntilAllHaveThem) {
  Members members(3);
  std::vector<std::byte> data(100'000, std::byte{7}), first(data.size()), second(data.size());
  nagaya_collective all[3]{};
  for (nagaya_collective& what : all) what.kind = NAGAYA_BCAST;
  all[0].send = layout::equal_blocks(data.data(), data.size());
  all[1].receive = layout::equal_blocks(first.data(), first.size());
  all[2].receive = layout::equal_blocks(second.data(), second.size());
  const auto sender = members.start(0, all[0]);
  EXPECT_FALSE(sender->advance());
  EXPECT_TRUE(members.start(2, all[2])->advance());
  EXPECT_FALSE(sender->advance());
  EXPECT_TRUE(members.start(1, all[1])->advance());
  EXPECT_TRUE(sender->advance());
  EXPECT_EQ(first, data);
  EXPECT_EQ(second, data);
}

// Seen: a root that had left its broadcast closed the team, and looked whether others had it yet.
TEST(Ahead, ATeamIsNotIdleWhileOthersUseTheMembersMemory) {
  Members members(2);
  std::vector<std::byte> data(100'000), got(data.size());
  nagaya_collective all[2]{};
  for (nagaya_collective& what : all) what.kind = NAGAYA_BCAST;
  all[0].send = layout::equal_blocks(data.data(), data.size());
  all[1].receive = layout::equal_blocks(got.data(), got.size());
  const auto sender = members.start(0, all[0]);
  EXPECT_FALSE(sender->advance());
  EXPECT_FALSE(members.team(0).is_idle());
  EXPECT_TRUE(members.start(1, all[1])->advance());
  EXPECT_TRUE(members.team(1).is_idle());
  EXPECT_TRUE(sender->advance());
  EXPECT_TRUE(members.team(0).is_idle());
}

}  // namespace
}  // namespace nagaya::coll
