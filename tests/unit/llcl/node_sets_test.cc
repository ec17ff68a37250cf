// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/node_sets.h"

#include <gtest/gtest.h>

#include <vector>

#include "llcl/process_set.h"

namespace nagaya::llcl {
namespace {

// The process of rank n is task n of its node.
std::vector<nagaya_process> processes_of(const std::vector<uint32_t>& nodes) {
  std::vector<nagaya_process> processes;
  for (uint32_t rank = 0; rank < nodes.size(); ++rank) processes.push_back({nodes[rank], rank});
  return processes;
}

NodeSets of_nodes(const std::vector<uint32_t>& nodes) {
  return NodeSets(processes_of(nodes));
}

std::vector<uint32_t> list(std::span<const uint32_t> ranks) {
  return {ranks.begin(), ranks.end()};
}

TEST(NodeSets, NumberNodesByTheirLowestRanks) {
  const NodeSets sets = of_nodes({7, 7, 2, 2, 2, 5});
  ASSERT_EQ(sets.nodes(), 3u);
  EXPECT_EQ(list(sets.ranks_of(0)), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(list(sets.ranks_of(1)), (std::vector<uint32_t>{2, 3, 4}));
  EXPECT_EQ(list(sets.ranks_of(2)), (std::vector<uint32_t>{5}));
  EXPECT_TRUE(sets.are_blocks());
}

TEST(NodeSets, SetProcessesApartThatShareANode) {
  const NodeSets sets = NodeSets::apart(3);
  ASSERT_EQ(sets.nodes(), 3u);
  for (uint32_t rank = 0; rank < 3; ++rank)
    EXPECT_EQ(list(sets.ranks_of(rank)), (std::vector<uint32_t>{rank}));
  EXPECT_TRUE(sets.are_blocks());
}

TEST(NodeSets, KnowRanksThatAreDealtToNodes) {
  const NodeSets sets = of_nodes({3, 0, 3, 0, 3});
  ASSERT_EQ(sets.nodes(), 2u);
  EXPECT_EQ(list(sets.ranks()), (std::vector<uint32_t>{0, 2, 4, 1, 3}));
  EXPECT_EQ(sets.begin_of(1), 3u);
  EXPECT_EQ(sets.node_of(3), 1u);
  EXPECT_EQ(sets.index_of(4), 2u);
  EXPECT_FALSE(sets.are_blocks());
}

TEST(ProcessSet, KnowsTheTasksOfTheCallersNode) {
  const ProcessSet set(processes_of({3, 0, 3, 0, 3}), 3);
  EXPECT_EQ(set.tasks_here(), (std::vector<uint32_t>{1, 3}));
  EXPECT_TRUE(set.is_here(1));
  EXPECT_FALSE(set.is_here(0));
}

TEST(ProcessSet, IsAloneWhereAllAreSetApart) {
  const ProcessSet set(processes_of({7, 7, 7}), NodeSets::apart(3), 1);
  EXPECT_EQ(set.tasks_here(), std::vector<uint32_t>{1});
  EXPECT_FALSE(set.is_here(0));
}

}  // namespace
}  // namespace nagaya::llcl
