// SPDX-License-Identifier: BSD-3-Clause
// process_set.h - an ordered set of processes; the caller is usually one of them. Teams, areas,
// arrays and the faces' communicators hold one, and no list of processes.
//
//   rank ─► key = node << 12 | task        a rank table: one copy for all tasks of the node
//   rank ─► index among those of its node  ranks_by_node.h
//
// A key is a position of a node table that has room for every process that can exist. So sets
// need no world: also processes that were started later (MPI_Comm_spawn) have keys.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "processes/ranks_by_node.h"

namespace nagaya::processes {

// Immutable: any thread may call.
class ProcessSet {
 public:
  // Keys are below 2^31.
  static constexpr uint32_t kNodesMax = (uint32_t{1} << (31 - task::kTaskNumberBits)) - 1;

  static constexpr uint32_t kNotAMember = UINT32_MAX;

  // `by_rank`: each process once. `rank`: the caller's, or kNotAMember. Throws std::bad_alloc;
  // base::Error if a process is there twice, or no node can have its number.
  ProcessSet(TableStore store, std::span<const Process> by_rank, uint32_t rank);

  uint32_t rank() const { return rank_; }  // the caller's
  bool has_caller() const { return rank_ != kNotAMember; }
  uint32_t size() const { return keys_->size; }
  Process process(uint32_t rank) const {
    const auto key = static_cast<uint32_t>(keys_->position_of(rank));
    return {key >> task::kTaskNumberBits, key & (task::kTasksMax - 1)};
  }
  // Returns the rank, or -ESRCH: it is not in the set.
  int64_t rank_of(Process process) const {
    if (process.node >= kNodesMax || process.task >= task::kTasksMax) return -ESRCH;
    return keys_->rank_at(process.node << task::kTaskNumberBits | process.task);
  }

  const RanksByNode& by_node() const { return by_node_; }

  // ---- for members

  // Whether the process is on the caller's node.
  bool is_here(uint32_t rank) const {
    return by_node_.nodes() == 1 || process(rank).node == own_node_;
  }
  // Returns the index of a process among those of its node.
  uint32_t index_of(uint32_t rank) const {
    return by_node_.nodes() == 1 ? rank : by_node_.index_of(rank);
  }
  // Returns the task numbers of the caller's node, by index_of(). May throw std::bad_alloc.
  std::vector<uint32_t> tasks_here() const;

 private:
  TableReference<RankTable> keys_;
  RanksByNode by_node_;
  uint32_t rank_, own_node_;
};

}  // namespace nagaya::processes
