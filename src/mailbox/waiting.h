// SPDX-License-Identifier: BSD-3-Clause
// waiting.h - how everything in a space waits: look, spin, yield, sleep (law 7).
#pragma once

#include <cstdint>

#include "mailbox/doorbell.h"
#include "mailbox/machine.h"

namespace nagaya::mailbox {

// The load of the node, in shared memory, kept by the caller. A hint: a wrong number costs time.
struct Load {
  std::atomic<uint32_t> runnable;   // threads with a lane, and the delegatee's, that do not sleep
  uint32_t processors;              // that they may use
  std::atomic<uint32_t> waiting{};  // threads that wait for what is late, asleep or not

  // Relaxed: nothing depends on it.
  bool crowded() const { return runnable.load(std::memory_order_relaxed) > processors; }
  // Whoever yields is back after one other thread.
  bool crowded_by_one() const { return runnable.load(std::memory_order_relaxed) == processors + 1; }
  // For one more.
  bool has_room() const { return runnable.load(std::memory_order_relaxed) < processors; }
};

struct WaitPolicy {
  uint32_t spins;   // looks, with the CPU's hint between, while the partner can be running
  uint32_t yields;  // then looks with sched_yield between; then sleep
};

// A task. Spins cover the round trip of a partner that runs; yields: a futex wake costs a pair of
// tasks on shared cores 2 to 5 times a yield (architecture.md, law 7: 8 ping-pong pairs on 2 cores
// 0.64 to 0.81 us a message yielding, 1.2 to 4.3 by futex).
inline constexpr WaitPolicy kTaskPolicy = {.spins = 100, .yields = 200};
// A delegatee sleeps at once: spinning on an oversubscribed node it took 130 to 4000 us for what
// sleeping took 13 to 20 (facts-network.md).
inline constexpr WaitPolicy kDelegateePolicy = {.spins = 0, .yields = 0};

// For waiters whose partners ring the bell themselves: nothing to announce.
struct NoAnnouncement {
  uint64_t before_sleep() { return kNever; }
  void after_sleep() {}
};

// One waiter: its bell and its policy.
template <class M>
class BasicWaiting {
 public:
  BasicWaiting(BasicDoorbell<M>& bell, const Load& load, WaitPolicy policy = kTaskPolicy)
      : bell_(bell), load_(load), policy_(policy) {}

  // Until ready() or the deadline; the last ready(). ready() must see, by acquire, what a ringer
  // stored before it rang. `announcement` tells ringers that look elsewhere than at the bell:
  // before_sleep() answers how long to sleep at most [ns], 0: not now.
  template <class Ready, class Announcement = NoAnnouncement>
  bool until(Ready ready, uint64_t deadline_ns = kNever, Announcement&& announcement = {}) {
    if (ready()) return true;
    if (!load_.crowded())
      for (uint32_t n = 0; n < policy_.spins; ++n) {
        M::relax();
        if (ready()) return true;
      }
    for (uint32_t n = 0; n < policy_.yields; ++n) {
      if (passed(deadline_ns)) return ready();
      M::yield();
      if (ready()) return true;
    }
    while (!passed(deadline_ns))
      if (sleep_once(ready, deadline_ns, announcement)) return true;
    return ready();
  }

 private:
  template <class Ready, class Announcement>
  bool sleep_once(Ready& ready, uint64_t deadline_ns, Announcement& announcement) {
    const uint32_t armed = bell_.arm();
    const uint64_t longest_ns = announcement.before_sleep();
    const bool early = ready();  // what came before the arm rings no bell
    if (!early && longest_ns != 0) bell_.sleep(armed, sooner(deadline_ns, longest_ns));
    announcement.after_sleep();
    bell_.disarm();
    return early || ready();
  }
  static bool passed(uint64_t deadline_ns) {
    return deadline_ns != kNever && M::now_ns() >= deadline_ns;
  }
  static uint64_t sooner(uint64_t deadline_ns, uint64_t longest_ns) {
    if (longest_ns == kNever) return deadline_ns;
    const uint64_t end_ns = M::now_ns() + longest_ns;
    return end_ns < deadline_ns ? end_ns : deadline_ns;
  }

  BasicDoorbell<M>& bell_;
  const Load& load_;
  WaitPolicy policy_;
};

using Waiting = BasicWaiting<Machine>;

}  // namespace nagaya::mailbox
