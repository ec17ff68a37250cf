// SPDX-License-Identifier: BSD-3-Clause
// Random translations in communicators of every kind, of 2^20 processes on 16,384 nodes, both ways,
// against a dense map: 10^6 of each, with NAGAYA_FULL=1 10^7.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include "processes/tables.h"

namespace nagaya::processes {
namespace {

constexpr uint32_t kNodes = 16384, kTasks = 64, kSize = kNodes * kTasks;

uint64_t translations() {
  const char* full = std::getenv("NAGAYA_FULL");
  return full != nullptr && full[0] == '1' ? 10'000'000 : 1'000'000;
}

struct Communicator {
  Owned<NodeTable> nodes;
  Owned<RankTable> ranks;
  std::vector<Process> dense;  // by rank, not taken from the tables
};

template <class Position>
std::vector<Process> dense_map(uint32_t size, Position position) {
  std::vector<Process> map(size);
  for (uint32_t rank = 0; rank < size; ++rank) map[rank] = position(rank);
  return map;
}
Process by_node(uint32_t position) {
  return {position / kTasks, position % kTasks};
}
std::vector<uint32_t> shuffled(uint32_t count) {
  std::vector<uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  std::shuffle(all.begin(), all.end(), std::mt19937(20120901));
  return all;
}

Communicator world_in_blocks_of(uint32_t block) {
  auto nodes = equal_nodes(kNodes, kTasks, block);
  auto ranks = world_table(*nodes);
  auto dense = dense_map(kSize, [=](uint32_t rank) -> Process {
    const uint32_t group = rank / block;
    return {group % kNodes, group / kNodes * block + rank % block};
  });
  return {std::move(nodes), std::move(ranks), std::move(dense)};
}

// The ranks of `list`, of a world by node.
Communicator listed(const std::vector<uint32_t>& list) {
  auto nodes = equal_nodes(kNodes, kTasks);
  auto ranks = rank_table(*nodes, list);
  auto dense = dense_map(static_cast<uint32_t>(list.size()),
                         [&](uint32_t rank) { return by_node(list[rank]); });
  return {std::move(nodes), std::move(ranks), std::move(dense)};
}

Communicator every_second() {
  Communicator world = world_in_blocks_of(kTasks);
  world.ranks = rank_table(*world.nodes, range(1, kSize / 2, 2));
  world.dense = dense_map(kSize / 2, [](uint32_t rank) { return by_node(2 * rank + 1); });
  return world;
}

// Removed are three in a hundred of what comes in groups of `together` ranks.
Communicator without_some(uint32_t together) {
  Communicator world = world_in_blocks_of(kTasks);
  std::mt19937 random(20160501);
  std::vector<uint32_t> left;
  world.dense.clear();
  for (uint32_t first = 0; first < kSize; first += together) {
    const bool remains = random() % 100 >= 3;
    for (uint32_t rank = first; remains && rank < first + together; ++rank) {
      world.dense.push_back(by_node(rank));
      left.push_back(rank);
    }
  }
  world.ranks = rank_table(*world.nodes, left);
  return world;
}

Communicator shuffled_nodes() {
  std::vector<uint32_t> list;
  for (uint32_t node : shuffled(kNodes))
    for (uint32_t task = 0; task < kTasks; ++task) list.push_back(node * kTasks + task);
  return listed(list);
}

Communicator random_part(uint32_t size) {
  std::vector<uint32_t> list = shuffled(kSize);
  list.resize(size);
  return listed(list);
}

// As a launcher with a list of hosts reports it: nodes differ, dealt round robin.
Communicator reported_by_a_launcher() {
  std::vector<uint32_t> tasks(kNodes), next(kNodes);
  for (uint32_t node = 0; node < kNodes; ++node) tasks[node] = 1 + node % 7;
  std::vector<Process> all;
  for (size_t before = 1; before != all.size();) {
    before = all.size();
    for (uint32_t node = 0; node < kNodes; ++node)
      if (next[node] < tasks[node]) all.push_back({node, next[node]++});
  }
  auto nodes = node_table(tasks, dealt_block(all));
  auto ranks = built(RankPlan({*nodes, std::span(std::as_const(all))}));
  return {std::move(nodes), std::move(ranks), std::move(all)};
}

struct Case {
  const char* name;
  Communicator (*make)();
};
const Case kCases[] = {
    {"World", [] { return world_in_blocks_of(kTasks); }},
    {"RoundRobin", [] { return world_in_blocks_of(1); }},
    {"BlocksOfEight", [] { return world_in_blocks_of(8); }},
    {"EverySecond", every_second},
    {"WithoutSomeNodes", [] { return without_some(kTasks); }},
    {"WithoutSomeRanks", [] { return without_some(1); }},
    {"ShuffledNodes", shuffled_nodes},
    {"Random", [] { return random_part(kSize); }},
    {"RandomHalf", [] { return random_part(kSize / 2); }},
    {"RandomFew", [] { return random_part(5000); }},
    {"ReportedByALauncher", reported_by_a_launcher},
};

class TranslationOf : public testing::TestWithParam<Case> {};

TEST_P(TranslationOf, RandomRanksAndProcessesAgreesWithADenseMap) {
  const Communicator communicator = GetParam().make();
  const auto& dense = communicator.dense;
  const Translation table{communicator.nodes.get(), communicator.ranks.get()};
  ASSERT_EQ(table.ranks->size, dense.size());
  std::vector<int32_t> reverse(kSize, -ESRCH);
  for (size_t rank = 0; rank < dense.size(); ++rank)
    reverse[dense[rank].node * kTasks + dense[rank].task] = static_cast<int32_t>(rank);

  std::mt19937_64 random(20150901);
  for (uint64_t n = translations(); n > 0; --n) {
    const auto rank = static_cast<int64_t>(random() % dense.size());
    Process process{};
    ASSERT_EQ(table.process_of(rank, process), 0) << rank;
    const Process& expected = dense[static_cast<size_t>(rank)];
    ASSERT_TRUE(process.node == expected.node && process.task == expected.task) << rank;
    ASSERT_EQ(table.rank_of(process), rank);
  }
  for (uint64_t n = translations(); n > 0; --n) {
    const auto position = static_cast<uint32_t>(random() % kSize);
    if (table.nodes->position_of(by_node(position)) < 0) continue;  // not in this job
    ASSERT_EQ(table.rank_of(by_node(position)), reverse[position]) << position;
  }
}

TEST_P(TranslationOf, WhatDoesNotExistIsRefused) {
  const Communicator communicator = GetParam().make();
  const Translation table{communicator.nodes.get(), communicator.ranks.get()};
  Process out{1, 2};
  for (int64_t rank : {int64_t{-1}, int64_t{table.ranks->size}, int64_t{INT32_MIN},
                       int64_t{1} << 32, INT64_MAX, INT64_MIN})
    EXPECT_EQ(table.process_of(rank, out), -EINVAL) << rank;
  EXPECT_TRUE(out.node == 1 && out.task == 2);
  for (Process process : {Process{kNodes, 0}, Process{0, kTasks}, Process{UINT32_MAX, UINT32_MAX}})
    EXPECT_EQ(table.rank_of(process), -EINVAL);
}

INSTANTIATE_TEST_SUITE_P(Orders, TranslationOf, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace nagaya::processes
