// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/board/board.h"

#include <gtest/gtest.h>

#include "llcl/own_board.h"
#include "smaps.h"

namespace nagaya::llcl {
namespace {

using mailbox::Owner;

constexpr uint32_t kTask = 2, kOther = 3;

class BoardTest : public testing::Test {
 protected:
  uint32_t claim(uint32_t task) { return board_.lanes->claim(Owner::task(task, 1)); }
  // A sleeper at the task's bell; whether it would still sleep.
  void arm(uint32_t task) { armed_ = board_.ports[task].bell().arm(); }
  bool would_sleep(uint32_t task) {
    const uint64_t soon = mailbox::Machine::now_ns() + 20'000'000;
    board_.ports[task].bell().sleep(armed_, soon);
    return mailbox::Machine::now_ns() >= soon;
  }

  OwnBoard own_board_{4};
  Board& board_ = *own_board_;
  uint32_t armed_ = 0;
};

TEST_F(BoardTest, StaysOutOfCoreFiles) {
  const base::Mapping& memory = own_board_.memory();
  EXPECT_TRUE(is_left_out_of_core_files(memory.data()));
  EXPECT_TRUE(is_left_out_of_core_files(memory.data() + memory.bytes() - 1));
}

TEST_F(BoardTest, ASleepingTaskIsRung) {
  board_.sleepers[kTask].count = 1;
  arm(kTask);
  wake_task(board_, kTask);
  EXPECT_FALSE(would_sleep(kTask));
}

TEST_F(BoardTest, NobodyIsRungForATaskThatIsAwakeNorForAnother) {
  arm(kTask);
  wake_task(board_, kTask);
  EXPECT_TRUE(would_sleep(kTask));
  board_.sleepers[kOther].count = 1;
  wake_task(board_, kOther);
  EXPECT_TRUE(would_sleep(kTask));
}

TEST_F(BoardTest, WhatADeadTaskSaidOfItsWaitingIsTakenBack) {
  const Owner dead = Owner::task(kTask, 1);
  const uint32_t lane = claim(kTask), other = claim(kOther);
  board_.attached[kTask] = dead.bits;
  board_.sleepers[kTask].count = 2;
  for (const uint32_t number : {lane, other}) {
    board_.lane_waiters[number].waits = 1;
    board_.lane_waiters[number].lane_use = 1;
  }
  EXPECT_EQ(reclaim(board_, kTask), dead);
  EXPECT_EQ(board_.sleepers[kTask].count, 0u);
  EXPECT_EQ(board_.lane_waiters[lane].waits, 0u);
  EXPECT_EQ(board_.lane_waiters[lane].lane_use, 0u);
  EXPECT_EQ(board_.lane_waiters[other].waits, 1u);
  EXPECT_EQ(board_.lane_waiters[other].lane_use, 1u);
  EXPECT_EQ(reclaim(board_, kTask), Owner{});
}

}  // namespace
}  // namespace nagaya::llcl
