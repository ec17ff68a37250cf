// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/board/group.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "llcl/board/board.h"
#include "task/handmade_space.h"

namespace nagaya::llcl {
namespace {

class GroupTest : public testing::Test {
 protected:
  explicit GroupTest(uint32_t chunks = 64) : space_(chunks), board_(create_board(space_.header())) {
    for (uint32_t number = 0; number < space_.header().capacity; ++number)
      board().attached[number] = mailbox::Owner::task(number, 1).bits;
  }

  Board& board() { return *static_cast<Board*>(space_.header().upper_floors); }
  int open(Group& group, uint32_t task, uint64_t context, std::span<const uint32_t> members,
           uint64_t bytes = 100) {
    return group.open(board(), space_.task(task), {GroupUser::kTeam, 0, context}, members, bytes);
  }

  task::HandmadeSpace space_;
  base::Mapping board_;
};

class GroupInASmallHeap : public GroupTest {
 protected:
  GroupInASmallHeap() : GroupTest(3) {}
};

constexpr uint32_t kMembers[] = {5, 0, 3};

TEST_F(GroupTest, ItsMembersShareAPartEach) {
  Group groups[3];
  for (const uint32_t n : {1, 2, 0}) ASSERT_EQ(open(groups[n], kMembers[n], 7, kMembers), 0);
  for (uint32_t n = 0; n < 3; ++n) {
    EXPECT_EQ(groups[n].part(n), groups[0].part(n));
    EXPECT_EQ(reinterpret_cast<uint64_t>(groups[n].part(n)) % mailbox::kLineBytes, 0u);
    std::memset(groups[n].part(n), static_cast<int>(n + 1), 100);
  }
  for (uint32_t n = 0; n < 3; ++n)
    EXPECT_TRUE(std::all_of(groups[0].part(n), groups[0].part(n) + 100,
                            [n](std::byte byte) { return byte == std::byte(n + 1); }));
}

TEST_F(GroupTest, AWholePartIsZeroThoughTheMemoryWasUsedBefore) {
  for (int round = 0; round < 3; ++round) {
    Group group;
    const uint32_t self[] = {4};
    ASSERT_EQ(open(group, 4, 1, self), 0);
    EXPECT_TRUE(std::all_of(group.part(0), group.part(0) + 128,
                            [](std::byte byte) { return byte == std::byte{0}; }));
    std::memset(group.part(0), 0xff, 128);
  }
}

TEST_F(GroupTest, AnotherNameOrOtherMembersMakeAnotherGroup) {
  const uint32_t other[] = {5, 0, 2}, reversed[] = {3, 0, 5};
  Group one, of_other_context, of_others, of_another_order, of_an_array, of_the_same_team;
  ASSERT_EQ(open(one, 0, 7, kMembers), 0);
  ASSERT_EQ(open(of_other_context, 0, 8, kMembers), 0);
  ASSERT_EQ(open(of_others, 0, 7, other), 0);
  ASSERT_EQ(open(of_another_order, 0, 7, reversed), 0);
  const GroupName array = {GroupUser::kArray, 0, 7}, second = {GroupUser::kTeam, 1, 7};
  ASSERT_EQ(of_an_array.open(board(), space_.task(0), array, kMembers, 100), 0);
  ASSERT_EQ(of_the_same_team.open(board(), space_.task(0), second, kMembers, 100), 0);
  const std::byte* const parts[] = {one.part(0),         of_other_context.part(0),
                                    of_others.part(0),   of_another_order.part(0),
                                    of_an_array.part(0), of_the_same_team.part(0)};
  for (int n = 0; n < 6; ++n)
    for (int k = 0; k < n; ++k) EXPECT_NE(parts[n], parts[k]) << n << " " << k;
}

TEST_F(GroupTest, ItGoesWithTheLastMemberThatClosesIt) {
  Group first, second, third, again;
  ASSERT_EQ(open(first, 5, 7, kMembers), 0);
  const std::byte* const part = first.part(0);
  first.part(0)[0] = std::byte{1};
  first.close();
  ASSERT_EQ(open(second, 0, 7, kMembers), 0);
  EXPECT_EQ(second.part(0), part);
  EXPECT_EQ(second.part(0)[0], std::byte{1});
  ASSERT_EQ(open(third, 3, 7, kMembers), 0);
  third.close();
  static int ends;
  ends = 0;
  second.close([](Group& group) { ends += group.members().size() == 3 ? 1 : 100; });
  EXPECT_EQ(ends, 1);
  ASSERT_EQ(open(again, 0, 7, kMembers), 0);
  EXPECT_EQ(again.part(0)[0], std::byte{0});
}

TEST_F(GroupInASmallHeap, ThousandsThatComeAndGoTakeNoMoreMemoryThanOne) {
  for (uint64_t context = 0; context < 20'000; ++context) {
    Group groups[3];
    for (uint32_t n = 0; n < 3; ++n)
      ASSERT_EQ(open(groups[n], kMembers[(n + context) % 3], context, kMembers), 0) << context;
  }
}

TEST_F(GroupInASmallHeap, WithoutMemoryNothingChanges) {
  std::vector<std::unique_ptr<Group>> groups;
  const uint32_t self[] = {1};
  int error = 0;
  while (error == 0) {
    groups.push_back(std::make_unique<Group>());
    error = open(*groups.back(), 1, groups.size(), self, 100'000);
  }
  EXPECT_EQ(error, -ENOMEM);
  ASSERT_GT(groups.size(), 1u);
  groups.front()->close();
  EXPECT_EQ(open(*groups.back(), 1, groups.size(), self, 100'000), 0);
}

TEST_F(GroupTest, ThousandsAtOnceAreFound) {
  const uint32_t self[] = {2};
  std::vector<Group> groups(5000);
  for (size_t n = 0; n < groups.size(); ++n) {
    ASSERT_EQ(open(groups[n], 2, n, self, 8), 0);
    std::memcpy(groups[n].part(0), &n, sizeof n);
  }
  for (size_t n = 0; n < groups.size(); ++n) {
    size_t found = 0;
    std::memcpy(&found, groups[n].part(0), sizeof found);
    EXPECT_EQ(found, n);
  }
}

TEST_F(GroupTest, ALockWhoseHolderHasDiedIsTaken) {
  for (Groups::Bucket& bucket : board().groups->buckets)
    bucket.lock = mailbox::Owner::task(6, 1).bits;
  board().attached[6] = 0;  // as the host does when it reaps the task
  Group group;
  EXPECT_EQ(open(group, 5, 7, kMembers), 0);
}

TEST_F(GroupTest, AMemberThatForgetsItHasNotClosedIt) {
  constexpr uint32_t kTwo[] = {5, 0};
  Group first, second, late;
  ASSERT_EQ(open(first, 5, 7, kTwo), 0);
  first.undo_open();
  ASSERT_EQ(open(second, 0, 7, kTwo), 0);
  second.part(0)[0] = std::byte{1};
  second.close();
  ASSERT_EQ(open(late, 5, 7, kTwo), 0);
  EXPECT_EQ(late.part(0)[0], std::byte{1});
}

// Blocks of a task that has been waited for are freed, and others', too, lie in the same bucket.
// A group with an ended member leaves, whichever member has made it: the next task of the number
// must not find it.
TEST_F(GroupTest, TheHostTakesThoseOfAnEndedTaskOutOfTheDirectory) {
  constexpr uint32_t kOthers[] = {0, 3};
  struct {
    GroupName name;
    uint32_t maker;
    std::span<const uint32_t> members;
    bool stays;
  } const groups[] = {{{GroupUser::kTeam, 0, 7}, 0, kOthers, true},
                      {{GroupUser::kTeam, 1, 7}, 5, kMembers, false},
                      {{GroupUser::kTeam, 2, 7}, 0, kMembers, false},
                      {{GroupUser::kTeam, 3, 7}, 0, kOthers, true}};
  Group makers[4], again[4];
  for (const uint32_t n : {0, 1, 2, 3}) {
    const auto& [name, maker, members, stays] = groups[n];
    ASSERT_EQ(makers[n].open(board(), space_.task(maker), name, members, 8), 0);
    makers[n].part(0)[0] = std::byte{1};
  }
  board().attached[5] = 0;
  ASSERT_TRUE(forget_groups(board(), space_.task(5)));
  makers[1].undo_open();
  task::reclaim_heap(space_.task(5));
  for (const uint32_t n : {0, 1, 2, 3}) {
    const auto& [name, maker, members, stays] = groups[n];
    ASSERT_EQ(again[n].open(board(), space_.task(3), name, members, 8), 0);
    EXPECT_EQ(again[n].part(0)[0], std::byte(stays ? 1 : 0)) << n;
  }
}

// The last member closes a group that the host has taken out: the others of the bucket stay.
TEST_F(GroupTest, WhatTheHostHasTakenOutIsNotTakenOutAgain) {
  constexpr uint32_t kTwo[] = {5, 0}, kOthers[] = {0, 3};
  const GroupName names[] = {
      {GroupUser::kTeam, 0, 7}, {GroupUser::kTeam, 1, 7}, {GroupUser::kTeam, 2, 7}};
  Group behind, made, last, found, other;
  ASSERT_EQ(behind.open(board(), space_.task(0), names[0], kOthers, 8), 0);
  behind.part(0)[0] = std::byte{1};
  ASSERT_EQ(made.open(board(), space_.task(5), names[1], kTwo, 8), 0);
  ASSERT_EQ(last.open(board(), space_.task(0), names[1], kTwo, 8), 0);
  made.close();
  board().attached[5] = 0;
  ASSERT_TRUE(forget_groups(board(), space_.task(5)));
  last.close();
  ASSERT_EQ(found.open(board(), space_.task(3), names[0], kOthers, 8), 0);
  EXPECT_EQ(found.part(0)[0], std::byte{1});
  ASSERT_EQ(other.open(board(), space_.task(0), names[2], kOthers, 8), 0);
  EXPECT_EQ(other.part(0)[0], std::byte{0});
}

TEST_F(GroupTest, TheHostWaitsForNobodyWhoReadsTheDirectory) {
  Group group;
  ASSERT_EQ(open(group, 5, 7, kMembers), 0);
  for (Groups::Bucket& bucket : board().groups->buckets)
    bucket.lock = mailbox::Owner::task(6, 1).bits;
  board().attached[5] = 0;
  EXPECT_FALSE(forget_groups(board(), space_.task(5)));
  board().attached[6] = 0;
  EXPECT_TRUE(forget_groups(board(), space_.task(5)));
  group.undo_open();
}

TEST_F(GroupTest, MembersOpenAndCloseAtOnce) {
  constexpr uint64_t kRounds = 3000;
  std::atomic<uint64_t> met{0};
  const auto member = [&](uint32_t n) {
    for (uint64_t round = 0; round < kRounds; ++round) {
      Group group;
      ASSERT_EQ(open(group, kMembers[n], round % 4, kMembers), 0);
      reinterpret_cast<std::atomic<uint32_t>*>(group.part(n))->store(1);
      for (uint32_t other = 0; other < 3; ++other)
        while (reinterpret_cast<std::atomic<uint32_t>*>(group.part(other))->load() == 0)
          std::this_thread::yield();
      // Before any member opens the next one: that may have this one's name.
      group.close();
      met.fetch_add(1);
      while (met.load() < 3 * (round + 1)) std::this_thread::yield();
    }
  };
  std::vector<std::jthread> threads;
  for (uint32_t n = 0; n < 3; ++n) threads.emplace_back(member, n);
}

}  // namespace
}  // namespace nagaya::llcl
