// SPDX-License-Identifier: BSD-3-Clause
// membership.h - this process's part in the World: its barriers and allgathers.
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
//   broken    0 -> errno   a waiting task that sees that a member has ended, or a node is silent;
//                          it tells all other nodes. For ever: the job has lost a process
//
//                   barrier of another thread        other collectives
//   barrier         never: one collective at a time  never
//
// Progress: a barrier ends when all have come, or within a second or so after a member has died or
// the fabric has given up on a node. Death: at any instruction before it counts itself in, or as
// the last one in the rounds: the others see its record. After: they are let go by who comes last.
#pragma once

#include "comm/introduction.h"

namespace nagaya::comm {

// Every function is collective; returns -errno, or throws base::Error.
class Membership {
 public:
  explicit Membership(llcl::Endpoint& endpoint);
  ~Membership();

  World& world() const { return *world_; }
  uint32_t rank() const { return launched_.rank; }

  // The launcher is not needed any more. (barrier and allgather go on.)
  void leave_launcher() { launched_.meeting.reset(); }

  int barrier();
  int allgather(const void* own, size_t bytes, void* all);

 private:
  int error() const;
  template <class Ready>
  void await(Ready ready);
  bool a_member_has_ended() const;
  int meet_other_nodes();
  int await_round(uint32_t round, uint32_t from, uint64_t barrier);
  using Change = decltype(nagaya_llcl_try_add_word);
  int change_word(uint32_t node, size_t word, Change change, uint64_t value);
  void give_up(int error);
  int write_slots(const std::byte* from, size_t bytes);

  llcl::Endpoint& endpoint_;
  Launched launched_;
  World* world_;
};

}  // namespace nagaya::comm
