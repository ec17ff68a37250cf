// SPDX-License-Identifier: BSD-3-Clause
// waiting.h - the one loop in which all threads of a space wait (laws 7 and 11): it polls, and
// after each poll in vain spins, yields or sleeps. A waiter object decides which, and has the bell.
//
//   wait(ready, waiter)    ready? ──► true
//                          pause(): spin, yield ──► poll again
//                                   sleep ──► arm ──► ready? ──► disarm, true
//                                             sleep ──► disarm ──► poll again
//                                   give up ──► ready?
//
// Waiters: BasicWaiting (below) for threads with a bell of their own, llcl::Backoff for a task's
// threads, Delegatee::Backoff for a node's delegatee.
#pragma once

#include <cstdint>

#include "mailbox/doorbell.h"
#include "mailbox/machine.h"

namespace nagaya::mailbox {

// The constants of all waiters. Measured in November 2026 on 2 virtual processors (AMD EPYC, Intel
// Xeon; Linux 6.18) by `nagaya bench`, unless another source is named.
struct WaitTable {
  // Polls in vain before a task's thread yields, while every thread of the node can have a
  // processor. So many polls last as long as the answer of a partner that first computes a while.
  static constexpr uint32_t kSpins = 1000;
  // Polls of a word (nagaya_llcl_wait_word) that count as one poll while every thread can have a
  // processor. After them the thread advances what its task owes to others, which takes as long as
  // some 20 of them: a change meanwhile is seen that late.
  static constexpr uint32_t kPollsOfWord = 128;
  // A task's thread sleeps after so many polls in vain, and not before it has polled for kAwakeNs.
  // Nearly all of these polls include a yield. The time bounds what a node spends that waits for
  // long, whatever the number of its tasks; the polls are for a thread whose yields take long,
  // because others use the processor meanwhile. A futex wake costs a pair of tasks on shared
  // processors 2 to 5 times a yield (law 7: 8 ping-pong pairs on 2 processors 0.64 to 0.81 us a
  // message by yields, 1.2 to 4.3 by futex), which is little after kAwakeNs.
  static constexpr uint32_t kPollsAwake = 200;
  static constexpr uint64_t kAwakeNs = 3'000'000;
  // Polls in vain before a thread on a crowded node sleeps for kShortNapNs at a time, while the
  // delegatee sleeps, too. If the thread only yielded, it would keep its processor for milliseconds
  // (the scheduler EEVDF), and a delegatee that a message wakes would wait for a processor so long.
  static constexpr uint32_t kPollsBesideASleeper = 200;
  static constexpr uint64_t kShortNapNs = 50'000;
  // Polls in vain before a thread tells the delegatee that it waits: an answer that comes sooner is
  // from this node.
  static constexpr uint32_t kPollsBeforeAnnouncing = 20;
  // How long a thread spins beside a partner that runs on another processor of a crowded node: some
  // turns of the scheduler (docs/decisions/0011).
  static constexpr uint64_t kPartnerSpinNs = 5'000;
  // Lengths of a thread's sleeps: the first is kNapNs; each next one is twice as long, up to
  // kLongNapNs, or an eighth of the time slept so far if that is more; at most kLongestNapNs. A
  // store without a notification is seen that late.
  static constexpr uint64_t kNapNs = 500'000, kLongNapNs = 16'000'000, kLongestNapNs = 250'000'000;
  // The longest sleep while something is pending that rings no bell: messages for full mailboxes,
  // windows, files and collectives of other components of Open MPI.
  static constexpr uint64_t kNapWithoutBellNs = 1'000'000;

  // For a completer, which waits for active messages, for a copier, which waits for its last
  // helper, and for an accumulate, which waits for a lock.
  static constexpr uint32_t kBellSpins = 100, kBellYields = 200;
  static constexpr uint64_t kUnrungNapNs = 100'000;
  // Polls of a lock of accumulates before all that, on a crowded node, too: about 10 us. A holder
  // works for less than 1 us, unless it has lost its processor. A thread that yields instead gives
  // its processor to others, which find the lock taken as well. 16 processes on 2 processors that
  // add to one word, mean time of an addition: without polls 0.8 to 1.7 us, with 100 0.23 to 0.42,
  // with 200 0.16 to 0.19, with 1000 0.12 to 0.16.
  static constexpr uint32_t kStripeSpins = 200;

  // How long a delegatee in mode automatic keeps polling after its last progress.
  static constexpr uint64_t kLingerNs = 1'000'000;
  // A yield of the delegatee that takes longer than kLongAwayNs means that other programs want the
  // processor, not only waiting tasks. After kLongYields of these in a row (one alone is an
  // interrupt) the delegatee sleeps for kCrowdedNs.
  static constexpr uint64_t kLongAwayNs = 50'000;
  static constexpr uint32_t kLongYields = 2;
  static constexpr uint64_t kCrowdedNs = 10'000'000;
};

// The load of the node, in shared memory, kept by the caller. A hint: a wrong number costs time.
struct Load {
  std::atomic<uint32_t> runnable;  // threads with a lane, and the delegatee's, that do not sleep
  uint32_t processors;             // that those threads may use
  // Threads that have waited for kPollsBeforeAnnouncing polls or longer.
  std::atomic<uint32_t> waiting{};

  // Relaxed: nothing depends on it.
  bool crowded() const { return runnable.load(std::memory_order_relaxed) > processors; }
  // A thread that yields runs again after one other thread.
  bool crowded_by_one() const { return runnable.load(std::memory_order_relaxed) == processors + 1; }
  // Whether one more thread could run at once.
  bool has_room() const { return runnable.load(std::memory_order_relaxed) < processors; }
};

// A waiter's next step after a poll in vain.
enum class Pause : uint8_t { kSpin, kYield, kSleep, kGiveUp };

// Waits until ready(), or until the waiter gives up. Returns the last ready(). After waiter.arm()
// every event that can end the wait must ring, or end the sleep in another way; ready() must see,
// by acquire, what a ringer stored before it rang.
template <class Ready, class Waiter>
bool wait(Ready ready, Waiter&& waiter) {
  while (!ready()) switch (waiter.pause()) {
      case Pause::kSpin:
        waiter.spin();
        break;
      case Pause::kYield:
        waiter.yield();
        break;
      case Pause::kSleep: {
        waiter.arm();
        const bool is_early = ready();  // a ring before the arm wakes nobody
        if (!is_early) waiter.sleep();
        waiter.disarm();
        if (is_early) return true;
        break;
      }
      case Pause::kGiveUp:
        return ready();
    }
  return true;
}

template <class M>
bool has_passed(uint64_t deadline_ns) {
  return deadline_ns != kNever && M::now_ns() >= deadline_ns;
}
// Returns the end of a sleep that begins now and lasts at most `longest_ns`, but not beyond
// `deadline_ns` [ns of CLOCK_MONOTONIC].
template <class M>
uint64_t end_of_sleep(uint64_t longest_ns, uint64_t deadline_ns) {
  if (longest_ns == kNever) return deadline_ns;
  const uint64_t end_ns = M::now_ns() + longest_ns;
  return end_ns < deadline_ns ? end_ns : deadline_ns;
}

struct WaitPolicy {
  uint32_t spins;   // polls, with the CPU's hint between, while the partner can be running
  uint32_t yields;  // then polls with sched_yield between; then sleep
};
inline constexpr WaitPolicy kBellPolicy = {WaitTable::kBellSpins, WaitTable::kBellYields};
inline constexpr WaitPolicy kSleepAtOnce = {.spins = 0, .yields = 0};

// For waiters whose ringers check the bell's own word: a sleep need not be announced elsewhere.
struct NoAnnouncement {
  uint64_t before_sleep() { return kNever; }
  void after_sleep() {}
};

// One waiter: its bell and its policy.
template <class M>
class BasicWaiting {
 public:
  BasicWaiting(BasicDoorbell<M>& bell, const Load& load, WaitPolicy policy = kBellPolicy)
      : bell_(bell), load_(load), policy_(policy) {}

  // Waits until ready() or the deadline. Returns the last ready(). `announcement` announces the
  // sleep to ringers that check another word than the bell's (a mailbox's `tail`, for instance).
  // Its before_sleep() returns the longest sleep [ns]; 0: the thread must not sleep now.
  template <class Ready, class Announcement = NoAnnouncement>
  bool until(Ready ready, uint64_t deadline_ns = kNever, Announcement&& announcement = {}) {
    return mailbox::wait(ready, Waiter<Announcement>{*this, announcement, deadline_ns});
  }

 private:
  template <class Announcement>
  struct Waiter {
    BasicWaiting& self;
    Announcement& announcement;
    uint64_t deadline_ns;
    uint32_t polls = 0, armed = 0;
    uint64_t longest_ns = 0;

    Pause pause() {
      const WaitPolicy& policy = self.policy_;
      if (polls == 0 && self.load_.crowded()) polls = policy.spins;
      if (polls < policy.spins) return ++polls, Pause::kSpin;
      if (has_passed<M>(deadline_ns)) return Pause::kGiveUp;
      if (polls < policy.spins + policy.yields) return ++polls, Pause::kYield;
      return Pause::kSleep;
    }
    void spin() { M::relax(); }
    void yield() { M::yield(); }
    void arm() {
      armed = self.bell_.arm();
      longest_ns = announcement.before_sleep();
    }
    void sleep() {
      if (longest_ns != 0) self.bell_.sleep(armed, end_of_sleep<M>(longest_ns, deadline_ns));
    }
    void disarm() {
      announcement.after_sleep();
      self.bell_.disarm();
    }
  };

  BasicDoorbell<M>& bell_;
  const Load& load_;
  WaitPolicy policy_;
};

using Waiting = BasicWaiting<Machine>;

// Waits until ready(), for another thread that works for microseconds and rings nobody: polls, and
// between polls sleeps for at most kUnrungNapNs.
template <class M, class Ready>
void wait_unrung(Ready ready, const Load& load) {
  struct Napping {
    uint64_t before_sleep() { return WaitTable::kUnrungNapNs; }
    void after_sleep() {}
  };
  BasicDoorbell<M> none{};
  BasicWaiting<M>(none, load).until(ready, kNever, Napping{});
}

}  // namespace nagaya::mailbox
