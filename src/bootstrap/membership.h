// SPDX-License-Identifier: BSD-3-Clause
// membership.h - this process's part in the World: its barriers and allgathers, and its watch over
// the nodes.
//
// The barrier: tasks count themselves in; the last one meets the other nodes by dissemination, in
// ceil(log2(nodes)) rounds:
//
//   round 0: node n adds 1 to counter 0 of node n+1       5 nodes: 0>1>2>3>4>0
//   round 1: node n adds 1 to counter 1 of node n+2                0>2 1>3 2>4 3>0 4>1
//   round 2: node n adds 1 to counter 2 of node n+4                0>4 1>0 2>1 3>2 4>3
//
// Counters only grow, so that a node which is a barrier ahead does no harm.
//
//   barriers  n -> n + 1   the last task to arrive, after the rounds; the others wait for it
//   broken    0 -> loss    a waiting task that sees that a member has ended, or a node is silent;
//                          or a task that could not send its part of an allgather. It tells all
//                          other nodes. For ever: the job has lost a process
//
//                   barrier of another thread        other collectives
//   barrier         never: one collective at a time  never
//
// Progress: a barrier ends when all have come, or within a second or so after a member has died or
// the fabric has given up on a node. Death of a task before it counts itself in, or, if it is the
// last one, in the rounds: the others see its end in its record. Death after it has counted itself
// in: the last task to arrive releases the others.
//
// The watch: each wait of the process checks whether the host has recorded a lost node
// (Board.lost).
//
//   watchers_     null <-> a library's function; the first one is called
//   loss_is_told  no -> yes  the first task of this node that sees the loss; it calls the function
#pragma once

#include <array>
#include <string>

#include "bootstrap/introduction.h"

namespace nagaya::bootstrap {

// Lives until the process has ended, because the process's threads may wait for as long.
class Membership {
 public:
  // Collective; throws base::Error.
  explicit Membership(llcl::Endpoint& endpoint);

  World& world() const { return *world_; }
  uint32_t rank() const { return launched_.rank; }

  // Ends the connection to the launcher; barrier and allgather work without it. A forked child
  // leaves the connection open: it is the parent's.
  void leave_launcher();

  // Collective. Return -errno, or throw base::Error.
  int barrier();
  int allgather(const void* own, size_t bytes, void* all);
  // Returns a line that says why they have failed.
  std::string describe_loss() const;

  // The contracts are those of nagaya/comm.h. watch_nodes: one caller at a time.
  using Lost = void (*)(int64_t rank, int error);
  int watch_nodes(Lost lost);
  void unwatch_nodes(Lost lost);
  void unwatch_nodes();  // removes all watchers

 private:
  int error() const;
  template <class Ready>
  void await(Ready ready);
  int64_t ended_member() const;  // a rank of this node; -1: none
  int meet_other_nodes();
  int await_round(uint32_t round, uint32_t from, uint64_t barrier);
  using Change = decltype(nagaya_llcl_try_add_word);
  int change_word(uint32_t node, size_t word, Change change, uint64_t value);
  void give_up(int error);
  void await_completions(uint64_t& counter, uint64_t count);
  int write_slots(const std::byte* from, size_t bytes);
  void look_at_nodes();
  int64_t lowest_rank_of(uint32_t node) const;

  llcl::Endpoint& endpoint_;
  Launched launched_;
  World* world_;
  bool looks_at_nodes_ = false;                  // whether each wait does
  std::array<std::atomic<Lost>, 4> watchers_{};  // relaxed: functions, behind which lies no data
};

}  // namespace nagaya::bootstrap
