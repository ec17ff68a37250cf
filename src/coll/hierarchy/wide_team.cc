// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/wide_team.h"

#include <utility>

namespace nagaya::coll::hierarchy {
MultiNodeTeam::MultiNodeTeam(llcl::ProcessSet processes, uint64_t context, bool has_threads,
                             llcl::Wait& waits)
    : processes_(std::move(processes)),
      context_(context),
      waits_(waits),
      fan_in_(nodes().index_of(rank()), has_threads),
      fan_out_(nodes().index_of(rank()), has_threads) {}

int MultiNodeTeam::open(llcl::Board& board, task::TaskRecord& self) {
  const std::vector<uint32_t> tasks = processes_.tasks_here();
  if (tasks.size() == 1) return 0;
  if (const int error = fan_in_.open(board, self, context_, 0, tasks); error != 0) return error;
  const int error = fan_out_.open(board, self, context_, 1, tasks);
  // A member has joined only if both teams are open. Undoes the first open, so that a later call
  // can open both again.
  if (error != 0) fan_in_.undo_open();
  return error;
}

}  // namespace nagaya::coll::hierarchy
