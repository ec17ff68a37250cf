// SPDX-License-Identifier: BSD-3-Clause
// process_set.h - an ordered set of processes, one of which is the caller.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "llcl/node_sets.h"
#include "nagaya/llcl.h"

namespace nagaya::llcl {

// Immutable: any thread may call.
class ProcessSet {
 public:
  // `processes` by rank; `nodes`: which of them share memory. May throw std::bad_alloc.
  ProcessSet(std::span<const nagaya_process> processes, NodeSets nodes, uint32_t own_rank)
      : processes_(processes.begin(), processes.end()), nodes_(std::move(nodes)), rank_(own_rank) {}
  ProcessSet(std::span<const nagaya_process> processes, uint32_t own_rank)
      : ProcessSet(processes, NodeSets(processes), own_rank) {}

  uint32_t rank() const { return rank_; }  // the caller's
  uint32_t size() const { return nodes_.size(); }
  const NodeSets& nodes() const { return nodes_; }
  nagaya_process process(uint32_t rank) const { return processes_[rank]; }
  // Whether the process is on the caller's node.
  bool is_here(uint32_t rank) const { return nodes_.node_of(rank) == nodes_.node_of(rank_); }
  // The task numbers of the caller's node, by NodeSets::index_of. May throw std::bad_alloc.
  std::vector<uint32_t> tasks_here() const {
    std::vector<uint32_t> tasks;
    for (const uint32_t rank : nodes_.ranks_of(nodes_.node_of(rank_)))
      tasks.push_back(processes_[rank].task);
    return tasks;
  }

 private:
  std::vector<nagaya_process> processes_;
  NodeSets nodes_;
  uint32_t rank_;
};

}  // namespace nagaya::llcl
