// SPDX-License-Identifier: BSD-3-Clause
#include "processes/process_set.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <memory>
#include <vector>

#include "processes/node_tables.h"

namespace nagaya::processes {
namespace {

// `nodes` nodes of `tasks` tasks each, whose ranks are dealt in blocks of `block`.
std::vector<Process> dealt(uint32_t nodes, uint32_t tasks, uint32_t block) {
  std::vector<Process> processes;
  for (uint32_t begin = 0; begin < tasks; begin += block)
    for (uint32_t node = 0; node < nodes; ++node)
      for (uint32_t n = 0; n < block; ++n) processes.push_back({node, begin + n});
  return processes;
}

// The process of rank n is task n of its node.
std::vector<Process> processes_on(const std::vector<uint32_t>& nodes) {
  std::vector<Process> processes;
  for (uint32_t rank = 0; rank < nodes.size(); ++rank) processes.push_back({nodes[rank], rank});
  return processes;
}

std::vector<uint32_t> list(const RankList& ranks) {
  std::vector<uint32_t> all;
  for (const uint32_t rank : ranks) all.push_back(rank);
  return all;
}

// ---- the division by nodes ----------------------------------------------------------------------

TEST(RanksByNodeTest, NodesAreNumberedByTheirLowestRanks) {
  NodeTables node;
  const RanksByNode ranks(node.store(), processes_on({7, 7, 2, 2, 2, 5}));
  ASSERT_EQ(ranks.nodes(), 3u);
  EXPECT_EQ(list(ranks.ranks_of(0)), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(list(ranks.ranks_of(1)), (std::vector<uint32_t>{2, 3, 4}));
  EXPECT_EQ(list(ranks.ranks_of(2)), (std::vector<uint32_t>{5}));
  EXPECT_EQ(ranks.begin_of(2), 5u);
  EXPECT_EQ(ranks.node_of(4), 1u);
  EXPECT_EQ(ranks.index_of(4), 2u);
  EXPECT_TRUE(ranks.are_blocks());
}

TEST(RanksByNodeTest, EqualBlocksNeedNoTable) {
  NodeTables node;
  const RanksByNode ranks(node.store(), processes_on({3, 3, 1, 1, 8}));
  EXPECT_EQ(node.tables, 0);
  EXPECT_EQ(list(ranks.ranks_of(1)), (std::vector<uint32_t>{2, 3}));
  EXPECT_EQ(list(ranks.ranks_of(2)), (std::vector<uint32_t>{4}));
  EXPECT_EQ(ranks.begin_of(2), 4u);
}

TEST(RanksByNodeTest, ProcessesOfANodeMayCountAsNodesOfTheirOwn) {
  const RanksByNode ranks = RanksByNode::apart(3);
  ASSERT_EQ(ranks.nodes(), 3u);
  for (uint32_t rank = 0; rank < 3; ++rank)
    EXPECT_EQ(list(ranks.ranks_of(rank)), (std::vector<uint32_t>{rank}));
  EXPECT_TRUE(ranks.are_blocks());
}

TEST(RanksByNodeTest, RanksMayBeDealtInTurn) {
  for (const uint32_t block : {1u, 2u}) {
    NodeTables node;
    const std::vector<Process> processes = dealt(3, 4, block);
    const RanksByNode ranks(node.store(), processes);
    EXPECT_EQ(node.tables, 1);
    EXPECT_FALSE(ranks.are_blocks());
    std::vector<uint32_t> next(3);
    for (uint32_t rank = 0; rank < 12; ++rank) {
      const uint32_t on = processes[rank].node;
      EXPECT_EQ(ranks.node_of(rank), on);
      EXPECT_EQ(ranks.index_of(rank), next[on]);
      EXPECT_EQ(ranks.ranks_of(on)[next[on]], rank);
      EXPECT_EQ(ranks.ranks()[ranks.begin_of(on) + next[on]++], rank);
    }
  }
}

TEST(RanksByNodeTest, RanksMayLieInAnyOrder) {
  NodeTables node;
  const RanksByNode ranks(node.store(), processes_on({3, 0, 3, 0, 3}));
  ASSERT_EQ(ranks.nodes(), 2u);
  EXPECT_EQ(list(ranks.ranks()), (std::vector<uint32_t>{0, 2, 4, 1, 3}));
  EXPECT_EQ(ranks.begin_of(1), 3u);
  EXPECT_EQ(ranks.node_of(3), 1u);
  EXPECT_EQ(ranks.index_of(4), 2u);
  EXPECT_FALSE(ranks.are_blocks());
}

// ---- sets ---------------------------------------------------------------------------------------

TEST(ProcessSetTest, RanksAndProcessesAreTranslatedBothWays) {
  NodeTables node;
  const std::vector<Process> processes = processes_on({3, 0, 3, 0, 3});
  const ProcessSet set(node.store(), processes, 3);
  for (uint32_t rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(set.process(rank).node, processes[rank].node);
    EXPECT_EQ(set.process(rank).task, processes[rank].task);
    EXPECT_EQ(set.rank_of(processes[rank]), rank);
  }
  EXPECT_EQ(set.rank_of({3, 1}), -ESRCH);
  EXPECT_EQ(set.rank_of({UINT32_MAX, UINT32_MAX}), -ESRCH);
  EXPECT_EQ(set.rank(), 3u);
  EXPECT_TRUE(set.is_here(1));
  EXPECT_FALSE(set.is_here(0));
  EXPECT_EQ(set.tasks_here(), (std::vector<uint32_t>{1, 3}));
}

TEST(ProcessSetTest, AProcessIsThereOnce) {
  NodeTables node;
  EXPECT_THROW(ProcessSet(node.store(), std::vector<Process>{{0, 1}, {0, 1}}, 0), base::Error);
  EXPECT_THROW(ProcessSet(node.store(), std::vector<Process>{{ProcessSet::kNodesMax, 0}}, 0),
               base::Error);
  EXPECT_EQ(node.tables, 0);
}

TEST(ProcessSetTest, ItsTablesGoWithItsLastUser) {
  NodeTables node;
  const std::vector<Process> processes = dealt(3, 4, 1);
  {
    const ProcessSet one(node.store(), processes, 0);
    const int tables = node.tables;
    const ProcessSet other(node.store(), processes, 5);
    EXPECT_EQ(node.tables, tables);
  }
  EXPECT_EQ(node.tables, 0);
}

TEST(ProcessSetTest, AMillionRanksOfSixteenThousandNodesTakeOneTableANode) {
  constexpr uint32_t kNodes = 16384, kTasks = 64;
  constexpr uint64_t kTaskMaxBytes = 1024;
  for (const uint32_t block : {kTasks, 1u}) {
    const std::vector<Process> processes = dealt(kNodes, kTasks, block);
    NodeTables node;
    std::vector<std::unique_ptr<ProcessSet>> of_task(kTasks);
    of_task[0] = std::make_unique<ProcessSet>(node.store(), processes, 0);
    const uint64_t one_bytes = node.table_bytes;
    const int one_tables = node.tables;
    const size_t before = mallinfo2().uordblks;
    for (uint32_t task = 1; task < kTasks; ++task)
      of_task[task] = std::make_unique<ProcessSet>(node.store(), processes, task);
    EXPECT_EQ(node.table_bytes, one_bytes);
    EXPECT_EQ(node.tables, one_tables);
    EXPECT_LE((mallinfo2().uordblks - before) / (kTasks - 1), kTaskMaxBytes);
    EXPECT_LE(one_bytes, kTasks * 2 * kTaskMaxBytes);  // the node's
    const uint32_t last = kNodes * kTasks - 1;
    EXPECT_EQ(of_task[7]->process(last).node, kNodes - 1);
    EXPECT_EQ(of_task[7]->rank_of({kNodes - 1, kTasks - 1}), last);
    EXPECT_EQ(of_task[7]->by_node().ranks_of(kNodes - 1).size(), kTasks);
    EXPECT_EQ(of_task[7]->by_node().ranks_of(kNodes - 1)[kTasks - 1], last);
  }
}

}  // namespace
}  // namespace nagaya::processes
