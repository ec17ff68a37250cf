// SPDX-License-Identifier: BSD-3-Clause
// thread_bell.h - wakes a thread that sleeps in ppoll() on descriptors, so that it polls memory
// again: by a signal, which the thread unblocks only while it sleeps. No thread can sleep on a
// futex and on descriptors at once, and an eventfd would have to be open in every task.
//
//   | 31 ............... 1 |   0   |
//   |   count of sleeps    | armed |
//
//   awake (even) -> armed (odd)   the thread   arm      +3: counts, sets the bit
//   armed        -> awake         the thread   disarm   clears the bit
//   armed        -> awake         ringer       ring     only from the very word that it saw, and
//                                                       after the signal: a ringer in between sends
//                                                       one too, so no death loses a wake
//
//              arm, disarm       ring
//   sleeper    one thread        any number of ringers at once, of the same user
//
// The signal is blocked outside of ppoll: one that comes between arm and ppoll is pending, and ends
// the ppoll as it begins.
// Progress: wait-free. Death of a ringer: before the signal the word stays armed, the next ringer
// sends one; the sleeper sees the dead ringer's message then, or at the end of the sleep.
#pragma once

#include <poll.h>
#include <signal.h>

#include <cstdint>

#include "mailbox/machine.h"

namespace nagaya::mailbox {

class alignas(kLineBytes) ThreadBell {
 public:
  static constexpr int kSignal = SIGURG;  // ignored where nobody expects it

  // Called once, by the thread that will sleep, before anybody may ring: blocks the signal in that
  // thread.
  void own() {
    struct sigaction nothing {};
    nothing.sa_handler = [](int) {};
    ::sigaction(kSignal, &nothing, nullptr);  // an ignored one would not end a ppoll
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, kSignal);
    ::pthread_sigmask(SIG_BLOCK, &only, nullptr);
    process_.store(static_cast<int32_t>(arch::raw_syscall(__NR_getpid)), std::memory_order_relaxed);
    // Release: pairs with ring's acquire.
    thread_.store(static_cast<int32_t>(arch::raw_syscall(__NR_gettid)), std::memory_order_release);
  }

  // Called by the sleeper: announces a sleep. A ringer whose stores the sleeper's next poll misses
  // sees the bit.
  void arm() {
    word_.fetch_add(kCount + kArmed, std::memory_order_seq_cst);
    Machine::fence();  // store of `armed` before the last poll; see ring
  }
  // Like ppoll(2), but ends, too, when the bell is rung, or has been rung since arm().
  static int sleep(pollfd* descriptors, size_t count, int timeout_ms) {
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    ::sigdelset(&mask, kSignal);
    const timespec timeout{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L};
    return ::ppoll(descriptors, count, timeout_ms < 0 ? nullptr : &timeout, &mask);
  }
  void disarm() { word_.fetch_and(~kArmed, std::memory_order_relaxed); }
  // Whether the thread sleeps, or is about to. A hint.
  bool is_armed() const { return (word_.load(std::memory_order_relaxed) & kArmed) != 0; }

  // Wakes the sleeper if it sleeps or is about to. The caller has stored its data before.
  void ring() {
    Machine::fence();  // the caller's stores before load of `armed`; see arm
    ring_after_fence();
  }
  void ring_after_fence() {
    if ((word_.load(std::memory_order_relaxed) & kArmed) != 0) [[unlikely]]
      wake();
  }

 private:
  static constexpr uint32_t kArmed = 1, kCount = 2;

  void wake() {
    uint32_t word = word_.load(std::memory_order_relaxed);
    const int32_t thread = thread_.load(std::memory_order_acquire);  // pairs with own
    if ((word & kArmed) == 0 || thread == 0) return;
    arch::raw_syscall(__NR_tgkill, process_.load(std::memory_order_relaxed), thread, kSignal);
    // Relaxed: the thread reads what it waits for elsewhere. If the swap fails, the thread has
    // slept again since.
    word_.compare_exchange_strong(word, word & ~kArmed, std::memory_order_relaxed,
                                  std::memory_order_relaxed);
  }

  std::atomic<uint32_t> word_;
  std::atomic<int32_t> process_, thread_;
};

}  // namespace nagaya::mailbox
