// SPDX-License-Identifier: BSD-3-Clause
// target_lock.h - the lock of one member's part of a window, shared or exclusive, granted in the
// order of the requests: a ticket lock with two counters of tickets that may go on.
//
//   next_       the next ticket
//   shared_     the ticket that may lock shared: every ticket before it has its lock, or had it
//   exclusive_  the ticket that may lock exclusively, once it is shared_, too: every ticket before
//               it has unlocked
//
//   request 0 S, 1 S, 2 X, 3 S:   0 and 1 hold it: next_ 4, shared_ 2, exclusive_ 0
//                                 1 unlocks, then 0: exclusive_ 2, and ticket 2 holds it
//                                 2 unlocks: exclusive_ 3, then shared_ 3, and ticket 3 holds it
//
// The lowest bit of the words is none of the ticket's: in next_ it says that somebody has called
// lock_all (turns.h), so each request learns that with its ticket. Members on other nodes use the
// words by atomics, shared_ and exclusive_ as one word of 64 bits (remote_locks.h).
//
// Tickets wrap after 2^31; fewer than that wait at once. All zero: it is free. A grant acquires
// what all earlier holders have released: additions of shared holders go on with the release of
// the exclusive holder before them, who had acquired all until then, and each store of `shared_` is
// made by a thread that has acquired the one before.
// Death of a holder, or of a process that waits: nobody behind it is granted the lock any more.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace nagaya::window {

// A place in the order of the requests for one lock.
class Ticket {
 public:
  static constexpr uint32_t kHasLockAll = 1, kOne = 2;

  Ticket() = default;
  // `next`: the word of the next ticket, before this one was taken.
  explicit Ticket(uint32_t next)
      : place_(next & ~kHasLockAll), has_lock_all_((next & kHasLockAll) != 0) {}

  uint32_t place() const { return place_; }
  uint32_t next_place() const { return place_ + kOne; }
  // Whether somebody had called lock_all when the ticket was taken.
  bool has_lock_all() const { return has_lock_all_; }
  // Whether `place` is this ticket's, or a later one.
  bool is_reached_by(uint32_t place) const { return static_cast<int32_t>(place - place_) >= 0; }

 private:
  uint32_t place_ = 0;
  bool has_lock_all_ = false;
};

class TargetLock {
 public:
  // Where the words lie, for members on other nodes.
  static constexpr uint64_t kSharedAt = 0, kExclusiveAt = 4, kNextAt = 8;

  // Acquire: pairs with announce_lock_all(), for a request that lock_all does not wait for.
  Ticket take_ticket() { return Ticket(next_.fetch_add(Ticket::kOne, std::memory_order_acquire)); }
  bool has_lock_all() const {
    return (next_.load(std::memory_order_relaxed) & Ticket::kHasLockAll) != 0;
  }
  // From now on has_lock_all() is true of all tickets. Returns the first of them.
  Ticket announce_lock_all() {
    return Ticket(next_.fetch_or(Ticket::kHasLockAll, std::memory_order_acq_rel));
  }
  // Whether all exclusive requests before `ticket` have unlocked.
  bool has_reached(const Ticket& ticket) const {
    // Acquire: pairs with unlock_exclusive().
    return ticket.is_reached_by(shared_.load(std::memory_order_acquire));
  }

  // Called by the holder of a ticket until it returns true: then the lock is held, shared.
  bool try_shared(const Ticket& ticket) {
    // Acquire: pairs with unlock_exclusive(), and the store below.
    if (shared_.load(std::memory_order_acquire) != ticket.place()) return false;
    shared_.store(ticket.next_place(), std::memory_order_release);
    return true;
  }
  void unlock_shared() { exclusive_.fetch_add(Ticket::kOne, std::memory_order_release); }

  // Locks exclusively if nobody has the lock or waits for it: then the next ticket may go on, and
  // until somebody has taken it nobody changes the other two words. Returns that ticket.
  std::optional<Ticket> try_exclusive() {
    uint32_t next = next_.load(std::memory_order_relaxed);
    const Ticket ticket(next);
    // Acquire: as take_ticket().
    if (!is_exclusive(ticket) ||
        !next_.compare_exchange_strong(next, next + Ticket::kOne, std::memory_order_acquire,
                                       std::memory_order_relaxed))
      return std::nullopt;
    return ticket;
  }
  // Returns whether the lock is held exclusively by this ticket.
  bool is_exclusive(const Ticket& ticket) const {
    // Acquire: pairs with both unlocks. `shared_`, too: unlock_exclusive() stores it last.
    return shared_.load(std::memory_order_acquire) == ticket.place() &&
           exclusive_.load(std::memory_order_acquire) == ticket.place();
  }
  // Whether nobody has the lock or waits for it.
  bool is_free() const { return is_exclusive(Ticket(next_.load(std::memory_order_relaxed))); }
  // Needs no atomic addition: nobody else changes the two words before the store of `shared_`.
  void unlock_exclusive() {
    const uint32_t next = shared_.load(std::memory_order_relaxed) + Ticket::kOne;
    exclusive_.store(next, std::memory_order_release);
    shared_.store(next, std::memory_order_release);
  }

  // Called after an unlock or a shared grant, and a light fence: returns whether a ticket waits.
  bool has_waiters() const {
    return place_to_go_on() != (next_.load(std::memory_order_relaxed) & ~Ticket::kHasLockAll);
  }
  // The place of the exclusive holder's ticket, or else of the first one that waits.
  uint32_t place_to_go_on() const { return shared_.load(std::memory_order_relaxed); }

 private:
  // shared_ and exclusive_ are aligned as the word that they are to other nodes.
  alignas(sizeof(uint64_t)) std::atomic<uint32_t> shared_;
  std::atomic<uint32_t> exclusive_;
  std::atomic<uint32_t> next_;
};
static_assert(sizeof(TargetLock) == 16);

}  // namespace nagaya::window
