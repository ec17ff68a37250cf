// SPDX-License-Identifier: BSD-3-Clause
#include "members.h"

namespace nagaya::window {
namespace {

constexpr size_t kTerabyte = size_t{1} << 40;

TEST(Opening, EachMemberFindsTheMemoryOfAll) {
  for (const uint32_t size : {1u, 2u, 5u, 16u}) {
    Members members(size);
    std::vector<std::vector<char>> memory(size);
    std::vector<nagaya_window_memory> own(size);
    for (uint32_t rank = 0; rank < size; ++rank) {
      memory[rank].resize(10 * rank);
      own[rank] = {NAGAYA_WINDOW_CREATE, memory[rank].data(), memory[rank].size(), rank + 1, 0, 0};
    }
    const Handles handles = members.opened(own);
    for (const auto& window : handles)
      for (uint32_t rank = 0; rank < size; ++rank) {
        EXPECT_EQ(window->opening_error(), 0);
        EXPECT_EQ(window->part(rank).base, reinterpret_cast<std::byte*>(memory[rank].data()));
        EXPECT_EQ(window->part(rank).bytes, 10 * rank);
        EXPECT_EQ(window->part(rank).unit, rank + 1);
      }
  }
}

TEST(Opening, ContiguousMemoryFollowsTheRanks) {
  Members members(5);
  std::vector<nagaya_window_memory> own(5, {NAGAYA_WINDOW_CONTIGUOUS, nullptr, 0, 1, 4096, 0});
  for (uint32_t rank = 0; rank < 5; ++rank) own[rank].bytes = 1000 * (4 - rank);
  const Handles handles = members.opened(own);
  std::byte* at = handles[0]->part(0).base;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % 4096, 0u);
  for (uint32_t rank = 0; rank < 5; at += own[rank++].bytes)
    EXPECT_EQ(handles[4]->part(rank).base, at);
  for (const std::byte* byte = handles[0]->part(0).base; byte != at; ++byte)
    ASSERT_EQ(*byte, std::byte{0});
}

TEST(Opening, AnAlignmentOfUpTo2MiBIsKept) {
  Members members(2);
  for (size_t alignment = 1; alignment <= 2 << 20; alignment *= 2) {
    const nagaya_window_memory own{NAGAYA_WINDOW_ALLOCATE, nullptr, 8, 1, alignment, 0};
    const Handles handles = members.opened(own);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(handles[0]->part(1).base) % alignment, 0u);
  }
}

TEST(Opening, TheErrorOfTheLowestRankIsThatOfAll) {
  const nagaya_window_memory good{NAGAYA_WINDOW_ALLOCATE, nullptr, 8, 1, 0, 0};
  const auto with = [&](auto change) {
    nagaya_window_memory own = good;
    change(own);
    return own;
  };
  const std::pair<nagaya_window_memory, int> cases[] = {
      {with([](auto& own) { own.bytes = 4096 * kTerabyte; }), -ENOMEM},
      {with([](auto& own) { own.bytes = SIZE_MAX; }), -ENOMEM},
      {with([](auto& own) { own.error = -EPIPE; }), -EPIPE},
      {with([](auto& own) { own.unit = 0; }), -EINVAL},
      {with([](auto& own) { own.alignment = 24; }), -EINVAL},
      {with([](auto& own) { own.alignment = 4 << 20; }), -EINVAL},
      {with([](auto& own) { own.kind = NAGAYA_WINDOW_CREATE; }), -EINVAL},   // NULL
      {with([](auto& own) { own.kind = NAGAYA_WINDOW_DYNAMIC; }), -EINVAL},  // another kind
  };
  Members members(4);
  uint64_t context = 1;
  for (const auto& [bad, error] : cases)
    for (uint32_t rank = 1; rank < 4; ++rank) {
      std::vector<nagaya_window_memory> own(4, good);
      own[rank] = bad;
      if (rank < 3) own[3].error = -EXDEV;
      const Handles handles = members.opened(own, ++context);
      for (const auto& window : handles) EXPECT_EQ(window->opening_error(), error);
    }
}

TEST(Opening, AMemberWithoutMemoryForAHandleFailsAll) {
  Members members(3);
  Handles handles;
  for (const uint32_t rank : {0u, 2u}) {
    handles.push_back(members.joined(rank, 1));
    handles.back()->announce({NAGAYA_WINDOW_ALLOCATE, nullptr, 8, 1, 0, 0});
    EXPECT_FALSE(handles.back()->is_opened());
  }
  llcl::Group group;
  ASSERT_EQ(group.open(members.board(), members.record(1), group_name_of(1), members.tasks(),
                       Part::bytes_for(3)),
            0);
  Window::announce_error(group, 1, -ENOMEM);
  for (const auto& window : handles) {
    EXPECT_TRUE(window->is_opened());
    EXPECT_EQ(window->opening_error(), -ENOMEM);
  }
}

TEST(Opening, AContiguousWindowThatDoesNotFitFailsAtAll) {
  Members members(3);
  const Handles handles = members.opened(
      nagaya_window_memory{NAGAYA_WINDOW_CONTIGUOUS, nullptr, 2048 * kTerabyte, 1, 0, 0});
  for (const auto& window : handles) EXPECT_EQ(window->opening_error(), -ENOMEM);
}

TEST(Opening, TenThousandWindowsAreOpenAtOnceAndLeaveNothing) {
  constexpr uint32_t kWindows = 10'000;
  Members members(16);
  uint32_t left = 0;
  for (int round = 0; round < 2; ++round) {
    std::vector<Handles> all;
    for (uint32_t n = 0; n < kWindows; ++n)
      all.push_back(members.opened({NAGAYA_WINDOW_DYNAMIC, nullptr, 0, 1, 0, 0}, n));
    EXPECT_EQ(all.back().back()->opening_error(), 0);
    all.clear();
    if (round == 0)
      left = members.free_chunks();
    else
      EXPECT_GE(members.free_chunks() + 16, left);
  }
}

TEST(Opening, TheLineOfRank320HasPostsOfItsOwn) {
  EXPECT_EQ(Part::bytes_for(1), 192u);
  EXPECT_EQ(Part::bytes_for(320), 192u);
  EXPECT_EQ(Part::bytes_for(321), 200u);
}

TEST(Fence, NobodyPassesBeforeAllHaveArrived) {
  for (const uint32_t size : {1u, 2u, 5u, 16u}) {
    Members members(size);
    const Handles handles =
        members.opened(nagaya_window_memory{NAGAYA_WINDOW_DYNAMIC, nullptr, 0, 1, 0, 0});
    std::vector<uint32_t> rounds(size);
    std::vector<uint64_t> arrivals(size);
    constexpr uint32_t kRounds = 50;
    members.poll_all([&](uint32_t rank) {
      if (arrivals[rank] == 0) arrivals[rank] = handles[rank]->arrive(), ++rounds[rank];
      if (!handles[rank]->have_arrived(arrivals[rank])) return false;
      for (const uint32_t other : rounds) EXPECT_GE(other, rounds[rank]);
      arrivals[rank] = 0;
      return rounds[rank] == kRounds;
    });
  }
}

}  // namespace
}  // namespace nagaya::window
