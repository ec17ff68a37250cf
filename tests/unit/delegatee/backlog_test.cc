// SPDX-License-Identifier: BSD-3-Clause
// Memory that a node holds for tasks that do not read their messages.
#include <gtest/gtest.h>

#include "../../fuzz/backlog_target.h"

namespace nagaya::delegatee {
namespace {

using fuzz::CrowdedNode;

// Sends until there is no room; how many messages there was room for.
uint32_t fill(CrowdedNode& node, uint32_t task, uint32_t body_bytes) {
  uint32_t count = 0;
  while (node.send(0, task, body_bytes, 100) != Delivered::kFull) {
    if (++count == 1'000'000) break;
  }
  return count;
}

TEST(Backlog, OfNotesStaysInItsBudget) {
  CrowdedNode node;
  const uint32_t notes = fill(node, 0, 8);
  EXPECT_GT(notes, 1000u);
  EXPECT_LT(notes, 3000u);
  EXPECT_LE(node.held(0), CrowdedNode::kBudget.max_bytes);
  node.read_all();
  EXPECT_EQ(node.held(0), 0u);
}

// Each is a block of its own: the budget counts more than its bytes.
TEST(Backlog, OfSmallBodiesStaysInItsBudgetWithAllThatTheyTake) {
  CrowdedNode node;
  const uint32_t body_bytes = llcl::kNoteMaxBytes + 1;
  const uint32_t bodies = fill(node, 0, body_bytes);
  EXPECT_LT(bodies, CrowdedNode::kBudget.max_bytes / (3 * body_bytes));
  node.read_all();
}

TEST(Backlog, TellsSendersLongBeforeItIsFull) {
  CrowdedNode node;
  uint32_t told = 0, count = 0;
  for (Delivered last = Delivered::kAccepted; last != Delivered::kFull; ++count) {
    last = node.send(0, 0, 8, 1);
    told += last == Delivered::kBacklogged;
  }
  EXPECT_GT(told, count / 2);
}

TEST(Backlog, OfOneTaskKeepsNothingFromAnother) {
  CrowdedNode node;
  fill(node, 0, 8);
  EXPECT_EQ(node.send(1, 1, 8, 1), Delivered::kAccepted);
  EXPECT_EQ(node.send(1, 1, 3000, 500), Delivered::kAccepted);
  EXPECT_EQ(node.read(1, 10), 2u);
}

TEST(Backlog, TakesTheMessageThatHadNoRoomOnceTheTaskHasRead) {
  CrowdedNode node;
  fill(node, 0, 8);
  EXPECT_EQ(node.send(0, 0, 8, 1), Delivered::kFull);
  EXPECT_GT(node.read(0, 100), 0u);
  EXPECT_NE(node.send(0, 0, 8, 1), Delivered::kFull);
  node.read_all();
}

// A long message whose last part finds the task's mailbox full has its cell in the budget already.
TEST(Backlog, ABodyThatWasBegunIsEnded) {
  CrowdedNode node;
  while (node.held(0) + 6000 < CrowdedNode::kBudget.max_bytes) node.send(0, 0, 8, 1);
  EXPECT_EQ(node.send(1, 0, 5000, 100), Delivered::kBacklogged);
  fill(node, 0, 8);
  node.read_all();
}

// Each task reads bodies, keeps them and ends; its number is used again.
TEST(Backlog, OfEndedTasksDoesNotAddUp) {
  CrowdedNode node;
  for (int n = 0; n < 20; ++n) {
    fill(node, 0, 1000);
    node.read(0, 1000, true);
    node.end(0);
    EXPECT_EQ(node.held(0), 0u);
  }
  EXPECT_LE(node.left(), CrowdedNode::kBudget.max_bytes);
}

}  // namespace
}  // namespace nagaya::delegatee
