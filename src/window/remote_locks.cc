// SPDX-License-Identifier: BSD-3-Clause
#include "window/remote_locks.h"

#include <cstddef>

namespace nagaya::window {
namespace {

constexpr uint64_t kTurns = offsetof(Part, turns), kHasLockAll = offsetof(Part, has_lock_all);
constexpr uint64_t kNext = offsetof(Part, lock) + TargetLock::kNextAt,
                   kShared = offsetof(Part, lock) + TargetLock::kSharedAt,
                   kExclusive = offsetof(Part, lock) + TargetLock::kExclusiveAt;
// shared_ and exclusive_ as one word.
constexpr uint64_t kState = kShared;
static_assert(kExclusive == kShared + sizeof(uint32_t) && kState % sizeof(uint64_t) == 0);

constexpr uint32_t low_half(uint64_t word) {
  return static_cast<uint32_t>(word);
}
constexpr uint32_t high_half(uint64_t word) {
  return static_cast<uint32_t>(word >> 32);
}

// The state of a lock when it is the turn of the ticket at `place`, and nobody has it.
constexpr uint64_t free_state(uint32_t place) {
  return uint64_t{place} << 32 | place;
}

}  // namespace

uint32_t RemoteLocks::first_of_node(uint32_t target) const {
  return members_.by_node().ranks_of(members_.by_node().node_of(target))[0];
}

// ---- turns of lock_all and exclusive locks ------------------------------------------------------

// Enters if nobody is queued, or has entered in the other kind, or is about to call the first
// lock_all.
bool RemoteLocks::try_enter_at_once(uint32_t first, uint64_t one, uint64_t others) {
  static_assert(Turns::kNextAt == 0 && Turns::kServingAt == sizeof(uint32_t));
  const auto [has_lock_all, turns, holders] = members_.apply(
      first, {RemoteMembers::load<uint32_t>(kHasLockAll), RemoteMembers::load<uint64_t>(kTurns),
              RemoteMembers::change(kTurns + Turns::kHoldersAt, NAGAYA_ADD, one)});
  const bool has_queue = low_half(turns) != high_half(turns);
  if (has_lock_all != 0 && !has_queue && (holders & others) == 0) return true;
  members_.signal(first, RemoteMembers::change(kTurns + Turns::kHoldersAt, NAGAYA_ADD, -one));
  return false;
}

void RemoteLocks::enter(uint32_t first, uint64_t one, uint64_t others) {
  uint64_t holders = 0;
  RemoteMembers::ask_until([&] {
    const uint64_t expected = holders & ~others;
    holders =
        members_.apply(first, RemoteMembers::change(kTurns + Turns::kHoldersAt, NAGAYA_COMPARE_SWAP,
                                                    expected + one, expected));
    return holders == expected;
  });
}

void RemoteLocks::enter_by_queue(uint32_t first, uint64_t one, uint64_t others) {
  const uint32_t turn = low_half(
      members_.apply(first, RemoteMembers::change(kTurns + Turns::kNextAt, NAGAYA_ADD, 1u)));
  RemoteMembers::ask_until([&] {
    return members_.apply(first, RemoteMembers::load<uint32_t>(kTurns + Turns::kServingAt)) == turn;
  });
  if (one == Turns::kOneAll &&
      members_.apply(first, RemoteMembers::load<uint32_t>(kHasLockAll)) == 0) {
    for (const uint32_t rank : members_.by_node().ranks_of(members_.by_node().node_of(first)))
      announce(rank);
    members_.apply(first, RemoteMembers::change(kHasLockAll, NAGAYA_SWAP, 1u));
  }
  enter(first, one, others);
  members_.apply(first, RemoteMembers::change(kTurns + Turns::kServingAt, NAGAYA_SWAP, turn + 1));
}

// A process that has a lock already does not queue (turns.h).
void RemoteLocks::enter_exclusive(uint32_t first, bool has_others) {
  if (has_others) return enter(first, Turns::kOneExclusive, Turns::kAllMask);
  if (!try_enter_at_once(first, Turns::kOneExclusive, Turns::kAllMask))
    enter_by_queue(first, Turns::kOneExclusive, Turns::kAllMask);
}

// ---- one target ---------------------------------------------------------------------------------

// Whether it is a ticket's turn is true for ever until its holder goes on: so the state may be from
// before the ticket was taken.
Ticket RemoteLocks::lock_by_ticket(uint32_t target, bool is_exclusive) {
  const RemoteMembers::Change look = RemoteMembers::load<uint64_t>(kState);
  auto [next, state] =
      members_.apply(target, {RemoteMembers::change(kNext, NAGAYA_ADD, Ticket::kOne), look});
  const Ticket ticket(low_half(next));
  const auto is_granted = [&] {
    return is_exclusive ? state == free_state(ticket.place()) : low_half(state) == ticket.place();
  };
  if (!is_granted())
    RemoteMembers::ask_until([&] {
      state = members_.apply(target, look);
      return is_granted();
    });
  members_.ticket(target) = ticket;
  return ticket;
}

Access RemoteLocks::lock(uint32_t target, bool is_exclusive, bool has_others) {
  if (!is_exclusive) {
    const Ticket ticket = lock_by_ticket(target, false);
    members_.signal(target, RemoteMembers::change(kShared, NAGAYA_SWAP, ticket.next_place()));
    return Access::kShared;
  }
  if (!members_.ticket(target).has_lock_all()) {
    if (!lock_by_ticket(target, true).has_lock_all()) return Access::kUncountedExclusive;
    unlock(target, Access::kUncountedExclusive);
  }
  enter_exclusive(first_of_node(target), has_others);
  lock_by_ticket(target, true);
  return Access::kExclusive;
}

// As TargetLock::try_exclusive(), and as try_lock() of locks.h.
Access RemoteLocks::try_lock(uint32_t target) {
  const auto [next, state] = members_.apply(
      target, {RemoteMembers::load<uint32_t>(kNext), RemoteMembers::load<uint64_t>(kState)});
  const uint32_t before = low_half(next);
  const Ticket ticket(before);
  if (state != free_state(ticket.place()) ||
      low_half(members_.apply(target, RemoteMembers::change(kNext, NAGAYA_COMPARE_SWAP,
                                                            before + Ticket::kOne, before))) !=
          before)
    return Access::kNone;
  members_.ticket(target) = ticket;
  if (!ticket.has_lock_all()) return Access::kUncountedExclusive;
  if (try_enter_at_once(first_of_node(target), Turns::kOneExclusive, Turns::kAllMask))
    return Access::kExclusive;
  unlock(target, Access::kUncountedExclusive);
  return Access::kNone;
}

bool RemoteLocks::is_free(uint32_t target) {
  const auto [next, state] = members_.apply(
      target, {RemoteMembers::load<uint32_t>(kNext), RemoteMembers::load<uint64_t>(kState)});
  return state == free_state(Ticket(low_half(next)).place());
}

void RemoteLocks::unlock(uint32_t target, Access access) {
  if (access == Access::kUnchecked) return;
  if (access == Access::kShared)
    return members_.signal(target, RemoteMembers::change(kExclusive, NAGAYA_ADD, Ticket::kOne));
  members_.signal(target, RemoteMembers::change(kState, NAGAYA_SWAP,
                                                free_state(members_.ticket(target).next_place())));
  if (access == Access::kExclusive)
    members_.signal(
        first_of_node(target),
        RemoteMembers::change(kTurns + Turns::kHoldersAt, NAGAYA_ADD, -Turns::kOneExclusive));
}

// ---- all targets of a node ----------------------------------------------------------------------

// As LockAllRequest::is_announced().
void RemoteLocks::announce(uint32_t target) {
  const RemoteMembers::Change look = RemoteMembers::load<uint32_t>(kShared);
  auto [next, shared] =
      members_.apply(target, {RemoteMembers::change(kNext, NAGAYA_OR, Ticket::kHasLockAll), look});
  const Ticket awaited(low_half(next));
  if (!awaited.is_reached_by(low_half(shared)))
    RemoteMembers::ask_until(
        [&] { return awaited.is_reached_by(low_half(members_.apply(target, look))); });
}

void RemoteLocks::lock_all(uint32_t node) {
  const uint32_t first = members_.by_node().ranks_of(node)[0];
  if (!try_enter_at_once(first, Turns::kOneAll, Turns::kExclusiveMask))
    enter_by_queue(first, Turns::kOneAll, Turns::kExclusiveMask);
}

void RemoteLocks::unlock_all(uint32_t node) {
  members_.signal(members_.by_node().ranks_of(node)[0],
                  RemoteMembers::change(kTurns + Turns::kHoldersAt, NAGAYA_ADD, -Turns::kOneAll));
}

}  // namespace nagaya::window
