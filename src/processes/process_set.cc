// SPDX-License-Identifier: BSD-3-Clause
#include "processes/process_set.h"

#include "processes/rank_plan.h"

namespace nagaya::processes {
namespace {

// The node table of all keys. Its one area has kTasksMax tasks on each node.
struct AllKeys {
  NodeTable table{.head = {},
                  .positions = ProcessSet::kNodesMax * task::kTasksMax,
                  .nodes = ProcessSet::kNodesMax,
                  .area_count = 1,
                  .reserved = 0};
  Area areas[2] = {{0, 0, task::kTasksMax, task::kTasksMax}, {}};
};
constinit const AllKeys kAllKeys;

}  // namespace

ProcessSet::ProcessSet(TableStore store, std::span<const Process> by_rank, uint32_t rank)
    : keys_(store, RankPlan({kAllKeys.table, by_rank})),
      by_node_(store, by_rank),
      rank_(rank),
      own_node_(has_caller() ? by_rank[rank].node : 0) {}

std::vector<uint32_t> ProcessSet::tasks_here() const {
  std::vector<uint32_t> tasks;
  for (const uint32_t rank : by_node_.ranks_of(by_node_.node_of(rank_)))
    tasks.push_back(process(rank).task);
  return tasks;
}

}  // namespace nagaya::processes
