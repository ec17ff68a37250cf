// SPDX-License-Identifier: BSD-3-Clause
// multi_node_team.h - one member's state in a team over several nodes: a team of its node for the
// fan-in, one for the fan-out, and the envelopes of messages between nodes.
//
// If RanksByNode::apart() puts each process on a node of its own, processes exchange only messages,
// even in a node: then no special support (memory that all can load) is needed.
#pragma once

#include <memory>

#include "coll/team.h"
#include "llcl/requests/wait.h"
#include "match/contexts.h"
#include "processes/process_set.h"

namespace nagaya::coll::hierarchy {

class MultiNodeTeam {
 public:
  static constexpr uint64_t kContexts = uint64_t{1} << 56;
  static constexpr uint32_t kSizeMax = 1 << 20;

  // `are_apart`: each process counts as a node of its own.
  MultiNodeTeam(std::shared_ptr<const processes::ProcessSet> processes, bool are_apart,
                uint64_t context, bool has_threads, llcl::Wait& waits);

  // Opens the node's two teams; results as Team::open().
  int open(llcl::Board& board, task::TaskRecord& self);

  uint32_t rank() const { return processes_->rank(); }
  uint32_t size() const { return processes_->size(); }
  const processes::RanksByNode& nodes() const {
    return are_apart_ ? apart_ : processes_->by_node();
  }
  nagaya_process process(uint32_t rank) const { return processes_->process(rank); }
  llcl::Wait& waits() const { return waits_; }
  // Returns the envelope of rank `source`'s messages in collective `number` of this team.
  nagaya_envelope envelope(uint32_t source, uint64_t number) const {
    return match::team_envelope(context_, source, number);
  }

  // Teams of the node's members for fan-in and fan-out. Each runs its collectives in the order in
  // which they were started. With two teams a collective that waits for other nodes before its
  // fan-out does not delay later fan-ins.
  Team& fan_in() { return fan_in_; }
  Team& fan_out() { return fan_out_; }

  // Returns the next collective's number, from 0.
  uint64_t new_number() {
    pending_.fetch_add(1, std::memory_order_relaxed);
    return next_number_++;
  }
  void end_collective() { pending_.fetch_sub(1, std::memory_order_release); }
  bool is_idle() const { return pending_.load(std::memory_order_acquire) == 0; }

 private:
  const std::shared_ptr<const processes::ProcessSet> processes_;
  const bool are_apart_;
  const processes::RanksByNode apart_;
  const uint64_t context_;
  llcl::Wait& waits_;
  Team fan_in_, fan_out_;
  uint64_t next_number_ = 0;
  std::atomic<uint32_t> pending_ = 0;
};

}  // namespace nagaya::coll::hierarchy
