// SPDX-License-Identifier: BSD-3-Clause
// awaited_lock.h - the lock for which a member waits, for the members before it in the queue: so an
// unlock wakes the members next in line, and not all that sleep.
//
//   | 63 ...... 48 |   47 ...... 32  | 31 ....... 0 |     one thread of the member waits:
//   |       0      |   target + 1    |    place     |     its target's index, its ticket's place
//   |    threads   |        0        |       0      |     number of waiting threads, if the
//                                                        member has several
//
// A member with several threads does not tell for which lock each of them waits: every unlock of a
// lock for which somebody waits wakes it.
// Death of a member: its word stays, and others wake a member that is no more.
#pragma once

#include <atomic>
#include <cstdint>

#include "window/target_lock.h"

namespace nagaya::window {

class AwaitedLock {
 public:
  // Returns the value that a thread adds to its member's word while it waits.
  static uint64_t of(uint32_t target, const Ticket& ticket, bool has_threads) {
    return has_threads ? kOneThread : uint64_t{target + 1} << 32 | ticket.place();
  }
  // Relaxed: a fence follows, of the waiter that is about to sleep (Wait::arm), and of the member
  // that unlocks.
  void add(uint64_t wait) { word_.fetch_add(wait, std::memory_order_relaxed); }
  void remove(uint64_t wait) { word_.fetch_sub(wait, std::memory_order_relaxed); }

  // Whether the member's threads wait for the lock of `target` with a ticket of one of the first
  // `places` places from `first` on, or may do so.
  bool is_among(uint32_t target, uint32_t first, uint32_t places) const {
    const uint64_t word = word_.load(std::memory_order_relaxed);
    if (word == 0) return false;
    return word >= kOneThread || (word >> 32 == target + 1 &&
                                  static_cast<uint32_t>(word) - first < places * Ticket::kOne);
  }

 private:
  static constexpr uint64_t kOneThread = uint64_t{1} << 48;

  std::atomic<uint64_t> word_;
};

}  // namespace nagaya::window
