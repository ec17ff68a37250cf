// SPDX-License-Identifier: BSD-3-Clause
// remote_locks.h - locks of targets on other nodes, and of all targets of other nodes: the steps of
// locks.h on the same words, as atomic requests. So members of the target's node and others lock in
// one order. Requests that need not wait for each other travel together:
//
//   lock      ticket, state of the lock           one round trip, if nobody else has the lock
//             (shared: lets the next one go on)   nobody waits for its answer
//   unlock    behind the accesses                 nobody waits for its answer
//   lock_all  state of the queue, entry           one round trip for each node, if nobody is queued
//
// Functions wait, and throw as RemoteMembers' do.
#pragma once

#include "window/remote_members.h"

namespace nagaya::window {

class RemoteLocks {
 public:
  explicit RemoteLocks(RemoteMembers& members) : members_(members) {}

  // `has_others`: the caller has a lock of this window already. Returns how the target is locked.
  Access lock(uint32_t target, bool is_exclusive, bool has_others);
  // Takes effect behind the caller's accesses to the target.
  void unlock(uint32_t target, Access access);
  // Locks exclusively if that is possible without waiting for others, as try_lock() of locks.h.
  Access try_lock(uint32_t target);
  // Whether nobody has the target's lock or waits for it.
  bool is_free(uint32_t target);
  // `node`: by its index in the window's set.
  void lock_all(uint32_t node);
  void unlock_all(uint32_t node);

 private:
  uint32_t first_of_node(uint32_t target) const;
  bool try_enter_at_once(uint32_t first, uint64_t one, uint64_t others);
  void enter(uint32_t first, uint64_t one, uint64_t others);
  void enter_by_queue(uint32_t first, uint64_t one, uint64_t others);
  void enter_exclusive(uint32_t first, bool has_others);
  void announce(uint32_t target);
  Ticket lock_by_ticket(uint32_t target, bool is_exclusive);

  RemoteMembers& members_;
};

}  // namespace nagaya::window
