// SPDX-License-Identifier: BSD-3-Clause
// wide_team.h - a member's part in a team over several nodes: a team of its node for the way in,
// one for the way out, and messages between the nodes.
#pragma once

#include <memory>
#include <optional>

#include "coll/team.h"
#include "llcl/node_sets.h"
#include "llcl/wait.h"
#include "nagaya/match.h"

namespace nagaya::coll::hierarchy {

class WideTeam {
 public:
  // Contexts below it are free for teams; above them, those of the messages.
  static constexpr uint32_t kContexts = uint32_t{1} << 31;

  // `processes` by rank, of several nodes. May throw std::bad_alloc.
  WideTeam(std::span<const nagaya_process> processes, uint32_t rank, uint32_t context,
           bool has_threads, llcl::Wait& waits);

  // As Team::open.
  int open(llcl::Board& board, task::TaskRecord& self);

  uint32_t rank() const { return rank_; }
  uint32_t size() const { return nodes_.size(); }
  const llcl::NodeSets& nodes() const { return nodes_; }
  nagaya_process process(uint32_t rank) const { return processes_[rank]; }
  llcl::Wait& waits() const { return waits_; }
  // Of messages.
  uint32_t context() const { return kContexts | context_; }

  // Collectives of the node's members, on their way to a leader and from it. Two teams, each in the
  // order in which the collectives were started: one that waits for other nodes is in nobody's way.
  Team& fan_in() { return fan_in_; }
  Team& fan_out() { return fan_out_; }

  // The next collective's number, from 0.
  uint64_t new_number() {
    under_way_.fetch_add(1, std::memory_order_relaxed);
    return numbers_++;
  }
  void end_one() { under_way_.fetch_sub(1, std::memory_order_release); }
  bool is_idle() const { return under_way_.load(std::memory_order_acquire) == 0; }

 private:
  const std::vector<nagaya_process> processes_;
  const llcl::NodeSets nodes_;
  const uint32_t rank_, context_;
  llcl::Wait& waits_;
  Team fan_in_, fan_out_;
  uint64_t numbers_ = 0;
  std::atomic<uint32_t> under_way_ = 0;
};

}  // namespace nagaya::coll::hierarchy
