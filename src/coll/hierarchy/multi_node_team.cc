// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/multi_node_team.h"

#include <utility>

namespace nagaya::coll::hierarchy {
MultiNodeTeam::MultiNodeTeam(std::shared_ptr<const processes::ProcessSet> processes, bool are_apart,
                             uint64_t context, bool has_threads, llcl::Wait& waits)
    : processes_(std::move(processes)),
      are_apart_(are_apart),
      apart_(processes::RanksByNode::apart(size())),
      context_(context),
      waits_(waits),
      fan_in_(nodes().index_of(rank()), has_threads),
      fan_out_(nodes().index_of(rank()), has_threads) {}

int MultiNodeTeam::open(llcl::Board& board, task::TaskRecord& self) {
  if (nodes().ranks_of(nodes().node_of(rank())).size() == 1) return 0;
  const std::vector<uint32_t> tasks = processes_->tasks_here();
  if (const int error = fan_in_.open(board, self, context_, 0, tasks); error != 0) return error;
  const int error = fan_out_.open(board, self, context_, 1, tasks);
  // A member has joined only if both teams are open. Undoes the first open, so that a later call
  // can open both again.
  if (error != 0) fan_in_.undo_open();
  return error;
}

}  // namespace nagaya::coll::hierarchy
