// SPDX-License-Identifier: BSD-3-Clause
#include "processes/node_table.h"

#include <gtest/gtest.h>

#include <random>

#include "processes/tables.h"

namespace nagaya::processes {
namespace {

Process process_at(const NodeTable& table, int64_t position) {
  Process process{};
  EXPECT_EQ(table.process_at(position, process), 0) << position;
  return process;
}

// Positions in the order in which a launcher deals ranks to the nodes, `block` at a time.
std::vector<Process> dealt(const std::vector<uint32_t>& tasks, uint32_t block) {
  std::vector<Process> all;
  std::vector<uint32_t> next(tasks.size());
  for (size_t before = 1; before != all.size();) {
    before = all.size();
    for (uint32_t node = 0; node < tasks.size(); ++node)
      for (uint32_t n = 0; n < block && next[node] < tasks[node]; ++n)
        all.push_back({node, next[node]++});
  }
  return all;
}

void expect_order(const NodeTable& table, const std::vector<Process>& expected) {
  ASSERT_EQ(table.positions, expected.size());
  for (uint32_t position = 0; position < expected.size(); ++position) {
    const Process process = process_at(table, position);
    ASSERT_EQ(process.node, expected[position].node) << position;
    ASSERT_EQ(process.task, expected[position].task) << position;
    ASSERT_EQ(table.position_of(process), position);
  }
}

TEST(NodeTable, NumbersPositionsNodeByNode) {
  const std::vector<uint32_t> tasks{4, 4, 4, 2, 2, 7};
  expect_order(*node_table(tasks), dealt(tasks, 64));
}

TEST(NodeTable, DealsPositionsRoundTheNodes) {
  const std::vector<uint32_t> tasks(5, 12);
  for (uint32_t block : {1u, 2u, 3u, 4u, 6u, 12u})
    expect_order(*node_table(tasks, block), dealt(tasks, block));
}

TEST(NodeTable, GoesNodeByNodeWhereBlocksDoNotFit) {
  expect_order(*node_table({4, 4, 4}, 3), dealt({4, 4, 4}, 64));
  expect_order(*node_table({4, 4, 2}, 1), dealt({4, 4, 2}, 64));
}

TEST(NodeTable, PassesNodesWithoutTasks) {
  const std::vector<uint32_t> tasks{0, 3, 0, 0, 2, 2, 0};
  const auto table = node_table(tasks);
  expect_order(*table, dealt(tasks, 64));
  for (uint32_t node : {0u, 2u, 3u, 6u}) EXPECT_EQ(table->position_of({node, 0}), -EINVAL);
}

TEST(NodeTable, TakesOneAreaForEqualNodes) {
  EXPECT_EQ(equal_nodes(16384, 64)->area_count, 1u);
  EXPECT_EQ(node_table({64, 64, 64, 48})->area_count, 2u);
}

TEST(NodeTable, IsRightWhereNoTwoNodesAreAlike) {
  std::mt19937 random(1);
  std::vector<uint32_t> tasks(3000);
  for (uint32_t& count : tasks) count = static_cast<uint32_t>(random() % 9);
  expect_order(*node_table(tasks), dealt(tasks, 64));
}

TEST(NodeTable, RefusesPositionsAndProcessesThatDoNotExist) {
  for (const auto& table : {equal_nodes(3, 4), equal_nodes(3, 4, 1), node_table({4, 4, 3})}) {
    Process out{77, 88};
    for (int64_t position : {int64_t{-1}, int64_t{table->positions}, int64_t{1} << 31,
                             int64_t{1} << 32, INT64_MAX, INT64_MIN})
      EXPECT_EQ(table->process_at(position, out), -EINVAL) << position;
    EXPECT_TRUE(out.node == 77 && out.task == 88);
    for (Process process : {Process{3, 0}, Process{UINT32_MAX, 0}, Process{0, 4},
                            Process{2, UINT32_MAX}, Process{UINT32_MAX, UINT32_MAX}})
      EXPECT_EQ(table->position_of(process), -EINVAL) << process.node << " " << process.task;
  }
}

TEST(NodeTable, RefusesAJobWithoutProcessesOrWithTooMany) {
  EXPECT_EQ(NodePlan({}).error(), -EINVAL);
  EXPECT_EQ(NodePlan(std::vector<uint32_t>{0, 0}).error(), -EINVAL);
  EXPECT_EQ(NodePlan(std::vector<uint32_t>{1u << 30, 1u << 30}).error(), -EINVAL);
  EXPECT_EQ(NodePlan(std::vector<uint32_t>{1u << 30, (1u << 30) - 1}).error(), 0);
  EXPECT_EQ(NodePlan(std::vector<uint32_t>{UINT32_MAX, UINT32_MAX}).error(), -EINVAL);
}

TEST(NodeTable, GuessesTheBlockInWhichALauncherDealt) {
  const std::vector<uint32_t> tasks(4, 8);
  for (uint32_t block : {1u, 2u, 8u}) EXPECT_EQ(dealt_block(dealt(tasks, block)), block);
  EXPECT_EQ(dealt_block({}), 1u);
}

TEST(NodePlan, KnowsATableOfTheSameContentFromOthers) {
  const std::vector<uint32_t> tasks{4, 4, 4};
  const NodePlan plan(tasks, 2);
  EXPECT_TRUE(plan.matches(*equal_nodes(3, 4, 2)));
  EXPECT_FALSE(plan.matches(*equal_nodes(3, 4, 1)));
  EXPECT_FALSE(plan.matches(*equal_nodes(3, 4)));
  EXPECT_FALSE(plan.matches(*equal_nodes(4, 4, 2)));
  EXPECT_FALSE(plan.matches(*node_table({4, 4, 3}, 2)));
}

}  // namespace
}  // namespace nagaya::processes
