// SPDX-License-Identifier: BSD-3-Clause
// turns.h - how the locks of all targets (lock_all) and the exclusive locks of one target exclude
// each other. One for each window; nothing of it depends on the number of members.
//
//   holders   | lock_all: how many (32 bits) | exclusive: how many (32) |    one of them is 0
//
// A process that wants to enter takes a ticket and, in the order of the tickets, waits until the
// other kind has left: so neither kind starves. An exclusive lock takes no ticket if nobody is
// queued and it can enter at once. A process that holds a lock of the window already does not
// queue: it waits for holders of lock_all, who wait for nobody, and not for processes in the queue,
// who may wait for it.
//
// Until the first lock_all of a window nobody enters here, so exclusive locks of different targets
// touch no line in common that changes. The word from which a target's tickets are taken has a bit
// for lock_all:
//
//   exclusive:        takes a ticket of the target, with the bit
//                     -> 1: gives it back when its turn comes, and enters here
//   first lock_all:   sets the bit of each target, with the next ticket
//                     -> waits until all exclusive requests before that ticket are gone
//
// Both change one word, so one of the two sees the other. The lock that many take, often, pays
// nothing for the one that comes once.
// Death of a holder: processes of the other kind wait until the job ends.
#pragma once

#include <atomic>
#include <cstdint>

namespace nagaya::window {

class Turns {
 public:
  // Where the words lie, for members on other nodes (remote_locks.h), and the parts of `holders`.
  static constexpr uint64_t kNextAt = 0, kServingAt = 4, kHoldersAt = 8;
  static constexpr uint64_t kOneExclusive = 1, kOneAll = uint64_t{1} << 32;
  static constexpr uint64_t kExclusiveMask = kOneAll - 1, kAllMask = ~kExclusiveMask;

  // Whether somebody is queued: each lock_all that waits, and exclusive locks. If nobody is, a
  // process may try to enter without a ticket.
  bool has_queue() const {
    return serving_.load(std::memory_order_relaxed) != next_.load(std::memory_order_relaxed);
  }
  uint32_t take_ticket() { return next_.fetch_add(1, std::memory_order_relaxed); }
  bool is_turn_of(uint32_t ticket) const {
    return serving_.load(std::memory_order_relaxed) == ticket;
  }
  // Called by the holder of the turn. Returns whether others are queued.
  bool pass_on(uint32_t ticket) {
    serving_.store(ticket + 1, std::memory_order_relaxed);
    return next_.load(std::memory_order_relaxed) != ticket + 1;
  }

  bool try_enter_exclusive() { return try_enter(kOneExclusive, kAllMask); }
  bool try_enter_all() { return try_enter(kOneAll, kExclusiveMask); }
  // Return whether the other kind may enter now.
  bool leave_exclusive() { return (leave(kOneExclusive) & kExclusiveMask) == 0; }
  bool leave_all() { return (leave(kOneAll) & kAllMask) == 0; }

 private:
  bool try_enter(uint64_t one, uint64_t others) {
    uint64_t holders = holders_.load(std::memory_order_relaxed);
    while ((holders & others) == 0)
      // Acquire: pairs with leave().
      if (holders_.compare_exchange_weak(holders, holders + one, std::memory_order_acquire,
                                         std::memory_order_relaxed))
        return true;
    return false;
  }
  uint64_t leave(uint64_t one) { return holders_.fetch_sub(one, std::memory_order_release) - one; }

  std::atomic<uint32_t> next_, serving_;
  std::atomic<uint64_t> holders_;
};
static_assert(sizeof(Turns) == 16);

}  // namespace nagaya::window
