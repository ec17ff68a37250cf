// SPDX-License-Identifier: BSD-3-Clause
// doorbell.h - a futex word that wakes a sleeping waiter, so that it polls again. One cache line
// per waiter; anybody may ring, and ringing is one load while the waiter is awake. Several threads
// may share one waiter's bell: a ring wakes all of them.
//
//   | 31 ................ 1 |   0   |  one futex word
//   |   count of changes    | armed |
//
//   awake  (even) -> armed  (odd)   waiter     arm      +2, sets the bit
//   armed         -> armed          ringer     ring     +2: counts, so that no sleep begins
//   armed         -> awake          ringer     ring     -1: only from the very word that it left,
//                                                       and after the wake
//   armed         -> awake          waiter     disarm   clears the bit
//
// The waiter arms, polls once more, and sleeps on the word that arm() returned. A ringer first
// stores its data, then rings.
//
//           arm, disarm                        sleep       ring
//   waiter  one thread at a time; of several   any, after  any number of ringers at once
//           that sleep, the last one disarms   its arm
//
// Progress: a ringer retries only when another one has rung or the waiter has moved.
// Death of a ringer: before +2 nothing has happened; between +2 and the wake the word stays armed,
// so the next ringer wakes; after the wake nothing is missing. (The dead one's message is then seen
// with the next one, or with the ring of the host, which rings for the dead.) Death of a waiter:
// the first ringer wakes nobody and disarms; the next waiter of this bell arms it as it is.
#pragma once

#include <cstdint>

#include "mailbox/machine.h"

namespace nagaya::mailbox {

template <class M>
class alignas(kLineBytes) BasicDoorbell {
 public:
  // Called by the waiter: announces a sleep, returns the word to sleep on. A ringer whose stores
  // the waiter's next poll misses sees the bit.
  uint32_t arm() {
    // The count changes, so that a late ringer of an earlier sleep cannot disarm this one.
    word_.fetch_add(kCount, std::memory_order_relaxed);
    const uint32_t value = word_.fetch_or(kArmed, std::memory_order_seq_cst) | kArmed;
    M::fence();  // store of `armed` before the waiter's last poll; see ring
    return value;
  }
  // Sleeps until a ring that follows the arm() which returned `armed_value`, or until the deadline.
  // May return early.
  void sleep(uint32_t armed_value, uint64_t deadline_ns) {
    M::futex_wait(word_, armed_value, deadline_ns);
  }
  void disarm() { word_.fetch_and(~kArmed, std::memory_order_relaxed); }

  // Wakes the waiter if it sleeps or is about to.
  void ring() {
    M::fence();  // the caller's stores before load of `armed`; see arm
    ring_after_fence();
  }
  // ring() for callers that have a full fence between their stores and this call.
  void ring_after_fence() {
    if ((word_.load(std::memory_order_relaxed) & kArmed) != 0) [[unlikely]]
      wake();
  }

 private:
  static constexpr uint32_t kArmed = 1, kCount = 2;

  void wake() {
    uint32_t word = word_.load(std::memory_order_relaxed);
    do {
      if ((word & kArmed) == 0) return;  // awake, or somebody else has woken it since
      // Relaxed: the waiter reads what it waits for elsewhere, by acquire.
    } while (!word_.compare_exchange_weak(word, word + kCount, std::memory_order_relaxed,
                                          std::memory_order_relaxed));
    M::step(StopPoint::kBellRung);
    M::futex_wake(word_);
    // Disarms the bell, so that further ringers need no system call while the waiter wakes up.
    word += kCount;
    word_.compare_exchange_strong(word, word & ~kArmed, std::memory_order_relaxed,
                                  std::memory_order_relaxed);
  }

  typename M::template Atomic<uint32_t> word_;
};
static_assert(sizeof(BasicDoorbell<Machine>) == kLineBytes);

using Doorbell = BasicDoorbell<Machine>;

}  // namespace nagaya::mailbox
