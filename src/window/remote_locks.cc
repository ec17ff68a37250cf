// SPDX-License-Identifier: BSD-3-Clause
#include "window/remote_locks.h"

#include <cstddef>

namespace nagaya::window {
namespace {

constexpr uint64_t kLock = offsetof(Part, lock), kTurns = offsetof(Part, turns),
                   kHasLockAll = offsetof(Part, has_lock_all),
                   kUncountedExclusive = offsetof(Part, uncounted_exclusive);
constexpr uint32_t kOne = 1;

}  // namespace

uint32_t RemoteLocks::first_of_node(uint32_t target) const {
  return members_.by_node().ranks_of(members_.by_node().node_of(target))[0];
}

// ---- turns of lock_all and exclusive locks ------------------------------------------------------

uint32_t RemoteLocks::wait_for_turn(uint32_t first) {
  const uint32_t turn = members_.change(first, kTurns + Turns::kNextAt, NAGAYA_ADD, kOne);
  members_.ask_until([&] { return members_.load(first, kTurns + Turns::kServingAt) == turn; });
  return turn;
}

void RemoteLocks::pass_turn_on(uint32_t first, uint32_t turn) {
  members_.change(first, kTurns + Turns::kServingAt, NAGAYA_SWAP, turn + 1);
}

void RemoteLocks::enter(uint32_t first, uint64_t one, uint64_t others) {
  uint64_t holders = 0;
  members_.ask_until([&] {
    const uint64_t expected = holders & ~others;
    holders = members_.change(first, kTurns + Turns::kHoldersAt, NAGAYA_COMPARE_SWAP,
                              expected + one, expected);
    return holders == expected;
  });
}

// ---- one target ---------------------------------------------------------------------------------

void RemoteLocks::lock_shared(uint32_t target) {
  const uint32_t ticket = members_.change(target, kLock + TargetLock::kNextAt, NAGAYA_ADD, kOne);
  members_.ask_until(
      [&] { return members_.load(target, kLock + TargetLock::kSharedAt) == ticket; });
  members_.change(target, kLock + TargetLock::kSharedAt, NAGAYA_SWAP, ticket + 1);
}

void RemoteLocks::lock_exclusive(uint32_t target) {
  const uint32_t ticket = members_.change(target, kLock + TargetLock::kNextAt, NAGAYA_ADD, kOne);
  members_.ask_until([&] {
    return members_.load(target, kLock + TargetLock::kExclusiveAt) == ticket &&
           members_.load(target, kLock + TargetLock::kSharedAt) == ticket;
  });
}

void RemoteLocks::unlock_exclusive(uint32_t target) {
  members_.change(target, kLock + TargetLock::kExclusiveAt, NAGAYA_ADD, kOne);
  members_.change(target, kLock + TargetLock::kSharedAt, NAGAYA_ADD, kOne);
}

Access RemoteLocks::lock(uint32_t target, bool is_exclusive, bool has_others) {
  if (!is_exclusive) {
    lock_shared(target);
    return Access::kShared;
  }
  const uint32_t first = first_of_node(target);
  if (members_.load(first, kHasLockAll) == Part::kNoLockAll) {
    lock_exclusive(target);
    members_.change(target, kUncountedExclusive, NAGAYA_SWAP, kOne);
    if (members_.load(first, kHasLockAll) == Part::kNoLockAll) return Access::kUncountedExclusive;
    unlock(target, Access::kUncountedExclusive);
  }
  const uint32_t turn = has_others ? 0 : wait_for_turn(first);
  enter(first, Turns::kOneExclusive, Turns::kAllMask);
  if (!has_others) pass_turn_on(first, turn);
  lock_exclusive(target);
  return Access::kExclusive;
}

void RemoteLocks::unlock(uint32_t target, Access access) {
  if (access == Access::kUncountedExclusive)
    members_.change(target, kUncountedExclusive, NAGAYA_SWAP, uint32_t{0});
  if (access == Access::kShared)
    members_.change(target, kLock + TargetLock::kExclusiveAt, NAGAYA_ADD, kOne);
  else if (access != Access::kUnchecked)
    unlock_exclusive(target);
  if (access == Access::kExclusive)
    members_.change(first_of_node(target), kTurns + Turns::kHoldersAt, NAGAYA_ADD,
                    -Turns::kOneExclusive);
}

// ---- all targets of a node ----------------------------------------------------------------------

// As LockAllRequest::is_announced().
void RemoteLocks::announce(uint32_t first, uint32_t node) {
  if (members_.load(first, kHasLockAll) == Part::kAnnounced) return;
  members_.change(first, kHasLockAll, NAGAYA_SWAP, uint32_t{Part::kAnnouncing});
  for (const uint32_t rank : members_.by_node().ranks_of(node))
    members_.ask_until([&] { return members_.load(rank, kUncountedExclusive) == 0; });
  members_.change(first, kHasLockAll, NAGAYA_SWAP, uint32_t{Part::kAnnounced});
}

void RemoteLocks::lock_all(uint32_t node) {
  const uint32_t first = members_.by_node().ranks_of(node)[0];
  const uint32_t turn = wait_for_turn(first);
  announce(first, node);
  enter(first, Turns::kOneAll, Turns::kExclusiveMask);
  pass_turn_on(first, turn);
}

void RemoteLocks::unlock_all(uint32_t node) {
  members_.change(members_.by_node().ranks_of(node)[0], kTurns + Turns::kHoldersAt, NAGAYA_ADD,
                  -Turns::kOneAll);
}

}  // namespace nagaya::window
