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
// Tickets wrap after 2^32; fewer than that wait at once. All zero: it is free. A grant acquires
// what all earlier holders have released: additions of shared holders go on with the release of
// the exclusive holder before them, who had acquired all until then, and each store of `shared_` is
// made by a thread that has acquired the one before.
// Death of a holder, or of a process that waits: nobody behind it is granted the lock any more.
#pragma once

#include <atomic>
#include <cstdint>

namespace nagaya::window {

class TargetLock {
 public:
  // Where the words lie, for members on other nodes (remote_locks.h).
  static constexpr uint64_t kNextAt = 0, kSharedAt = 4, kExclusiveAt = 8;

  uint32_t take_ticket() { return next_.fetch_add(1, std::memory_order_relaxed); }

  // Called by the holder of a ticket until it returns true: then the lock is held, shared.
  bool try_shared(uint32_t ticket) {
    // Acquire: pairs with unlock_exclusive(), and the store below.
    if (shared_.load(std::memory_order_acquire) != ticket) return false;
    shared_.store(ticket + 1, std::memory_order_release);
    return true;
  }
  void unlock_shared() { exclusive_.fetch_add(1, std::memory_order_release); }

  // Returns whether the lock is held exclusively by this ticket.
  bool is_exclusive(uint32_t ticket) const {
    // Acquire: pairs with both unlocks. `shared_`, too: unlock_exclusive() stores it last.
    return shared_.load(std::memory_order_acquire) == ticket &&
           exclusive_.load(std::memory_order_acquire) == ticket;
  }
  // Needs no atomic addition: nobody else changes the two words before the store of `shared_`.
  void unlock_exclusive() {
    const uint32_t next = shared_.load(std::memory_order_relaxed) + 1;
    exclusive_.store(next, std::memory_order_release);
    shared_.store(next, std::memory_order_release);
  }

  // Called after an unlock or a shared grant, and a light fence: returns whether a ticket waits.
  bool has_waiters() const {
    return shared_.load(std::memory_order_relaxed) != next_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<uint32_t> next_, shared_, exclusive_;
};
static_assert(sizeof(TargetLock) == 12);

}  // namespace nagaya::window
