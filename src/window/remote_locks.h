// SPDX-License-Identifier: BSD-3-Clause
// remote_locks.h - locks of targets on other nodes, and of all targets of other nodes: the same
// steps on the same words as locks.h, each step one atomic request. So members of the target's node
// and others lock in one order.
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
  void unlock(uint32_t target, Access access);
  // `node`: by its index in the window's set.
  void lock_all(uint32_t node);
  void unlock_all(uint32_t node);

 private:
  uint32_t first_of_node(uint32_t target) const;
  void pass_turn_on(uint32_t first, uint32_t turn);
  uint32_t wait_for_turn(uint32_t first);
  void enter(uint32_t first, uint64_t one, uint64_t others);
  void announce(uint32_t first, uint32_t node);
  void lock_shared(uint32_t target);
  void lock_exclusive(uint32_t target);
  void unlock_exclusive(uint32_t target);

  RemoteMembers& members_;
};

}  // namespace nagaya::window
