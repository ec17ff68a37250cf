// SPDX-License-Identifier: BSD-3-Clause
#include "array/members.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include "array/grids.h"
#include "array/halo_plan.h"
#include "array/sets.h"
#include "llcl/board/board.h"
#include "task/handmade_space.h"

namespace nagaya::array {
namespace {

// The members of a ring of two-dimensional blocks, a thread of the test each.
class MembersTest : public testing::Test {
 protected:
  static constexpr uint32_t kMembers = 4;
  static constexpr uint32_t kExchanges = 2000;

  MembersTest()
      : space_(256, kMembers),
        board_(llcl::create_board(space_.header())),
        shape_(shape_of({{5, 2, 1, 1}, {7, 2, 2, 2}}, sizeof(uint32_t))) {
    std::vector<nagaya_process> processes;
    for (uint32_t rank = 0; rank < kMembers; ++rank) {
      processes.push_back({0, rank});
      board().attached[rank] = mailbox::Owner::task(rank, 1).bits;
    }
    for (uint32_t rank = 0; rank < kMembers; ++rank) {
      blocks_.emplace_back(shape_.layout_of_rank(rank).bytes / sizeof(uint32_t));
      members_.push_back(std::make_unique<Members>(set_of(processes, rank), 1));
      EXPECT_EQ(members_.back()->open(board(), space_.task(rank), base(rank)), 0);
    }
  }

  llcl::Board& board() { return *static_cast<llcl::Board*>(space_.header().upper_floors); }
  std::byte* base(uint32_t rank) { return reinterpret_cast<std::byte*>(blocks_[rank].data()); }

  // All steps of one exchange of a member, as Halo goes through them.
  void exchange(uint32_t rank, const std::vector<HaloStep>& plan) {
    Members& own = *members_[rank];
    for (const HaloStep& step : plan) {
      own.show_ready(step.sends.size());
      for (const Transfer& one : step.receives) {
        while (!own.is_ready(one.rank)) std::this_thread::yield();
        one.box.copy(base(rank) + one.to, own.base_of(one.rank) + one.from);
        own.count_read(one.rank);
      }
    }
    while (!own.is_all_read()) std::this_thread::yield();
  }

  // Counts elements that are not `wanted`, after a member has written its whole block and all
  // neighbours have done so.
  static uint32_t wrong_in(const std::vector<uint32_t>& block, uint32_t wanted) {
    return static_cast<uint32_t>(
        std::ranges::count_if(block, [wanted](uint32_t one) { return one != wanted; }));
  }

  task::HandmadeSpace space_;
  base::Mapping board_;
  const Shape shape_;
  std::vector<std::vector<uint32_t>> blocks_;
  std::vector<std::unique_ptr<Members>> members_;
};

TEST_F(MembersTest, NobodyReadsRowsBeforeTheyAreWrittenOrAfterTheyAreOverwritten) {
  const std::array<nagaya_array_width, 2> widths{{{1, 1, 1}, {2, 2, 1}}};
  std::atomic<uint32_t> wrong = 0;
  const auto run = [&](uint32_t rank) {
    const std::vector<HaloStep> plan = plan_halo(shape_, rank, widths, false);
    for (uint32_t n = 1; n <= kExchanges; ++n) {
      std::ranges::fill(blocks_[rank], n);
      exchange(rank, plan);
      wrong += wrong_in(blocks_[rank], n);
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < kMembers; ++rank) threads.emplace_back(run, rank);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
}

TEST_F(MembersTest, AMemberIsReadyWhenItIsInTheSameStepOrTheNext) {
  members_[0]->show_ready(1);
  EXPECT_FALSE(members_[0]->is_ready(1));
  members_[1]->show_ready(0);
  EXPECT_TRUE(members_[0]->is_ready(1));
  members_[1]->show_ready(0);
  EXPECT_TRUE(members_[0]->is_ready(1));
  EXPECT_FALSE(members_[1]->is_ready(0));
  EXPECT_FALSE(members_[0]->is_all_read());
  members_[1]->count_read(0);
  EXPECT_TRUE(members_[0]->is_all_read());
}

TEST_F(MembersTest, MessagesOfDifferentArraysAndSidesHaveDifferentEnvelopes) {
  const std::vector<nagaya_process> processes{{0, 0}, {1, 0}};
  const auto set = set_of(processes, 0);
  const Members one(set, 5), low(set, 6), high(set, 5 | uint64_t{1} << 54);
  const auto are_same = [](const nagaya_envelope& a, const nagaya_envelope& b) {
    return a.context == b.context && a.source == b.source && a.tag == b.tag;
  };
  EXPECT_TRUE(are_same(one.envelope(1, 13), one.envelope(1, 13)));
  EXPECT_FALSE(are_same(one.envelope(1, 13), one.envelope(1, 12)));
  EXPECT_FALSE(are_same(one.envelope(1, 13), one.envelope(0, 13)));
  EXPECT_FALSE(are_same(one.envelope(1, 13), low.envelope(1, 13)));
  EXPECT_FALSE(are_same(one.envelope(1, 13), high.envelope(1, 13)));
  EXPECT_EQ(one.envelope(1, 13).context >> 28, 7u);
  EXPECT_GE(high.envelope(1, 13).tag, 0);
}

}  // namespace
}  // namespace nagaya::array
