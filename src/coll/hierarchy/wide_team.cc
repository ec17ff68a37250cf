// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/wide_team.h"

#include <utility>

namespace nagaya::coll::hierarchy {
WideTeam::WideTeam(std::span<const nagaya_process> processes, llcl::NodeSets nodes, uint32_t rank,
                   uint64_t context, bool has_threads, llcl::Wait& waits)
    : processes_(processes.begin(), processes.end()),
      nodes_(std::move(nodes)),
      rank_(rank),
      context_(context),
      waits_(waits),
      fan_in_(nodes_.index_of(rank), has_threads),
      fan_out_(nodes_.index_of(rank), has_threads) {}

int WideTeam::open(llcl::Board& board, task::TaskRecord& self) {
  std::vector<uint32_t> tasks;
  for (const uint32_t rank : nodes_.ranks_of(nodes_.node_of(rank_)))
    tasks.push_back(processes_[rank].task);
  if (tasks.size() == 1) return 0;
  const int error = fan_in_.open(board, self, context_, 0, tasks);
  return error != 0 ? error : fan_out_.open(board, self, context_, 1, tasks);
}

}  // namespace nagaya::coll::hierarchy
