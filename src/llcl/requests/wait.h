// SPDX-License-Identifier: BSD-3-Clause
// wait.h - how the threads of a task wait, whatever they wait for (law 11). A waiting thread polls.
// Each poll also advances everything that the task owes to others: the libraries registered here,
// and chunks of large copies of its peers.
//
//   until(is_over)   poll: is_over? all that is registered, copies ──► Backoff: spin, yield, sleep
//   poll()           for callers that do not say what they wait for: one poll, and at most a yield
//
// A sleeping thread sleeps on the bell of its task, board.ports[task].bell(). Every event that may
// end its wait rings that bell:
//
//   | the event that ends the wait                    | its ringer                           |
//   | a message                                       | its poster: the mailbox has a mark   |
//   | a completion by the delegatee                   | the delegatee                        |
//   | a notification, a copy that is offered          | wake_task()                          |
//   | another thread of the task, which has moved     | that thread, at the end of its poll  |
//   | something for which nobody rings                | nobody: naps end by themselves, soon |
//   |                                                 | if before_sleep() says so            |
//
// Thread safety: any thread of the task may call any function. Threads that go to sleep take a lock
// of the task to arm and disarm its one bell.
// Death: all shared data are the board's (board.h), and the host takes them back.
#pragma once

#include <errno.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "llcl/board/board.h"
#include "llcl/requests/recorder.h"
#include "nagaya/llcl.h"
#include "task/space/spin_lock.h"

namespace nagaya::llcl {

// A library that every wait of the task advances. Any thread of the task calls the functions, and
// several threads at once; the functions must not wait, and throw nothing.
struct Progress {
  // Polls once. Returns how many events it has handled, or a negative errno if the library cannot
  // go on (-ENOMEM).
  int (*advance)(void* context);
  uint32_t every;  // a power of two: one in `every` polls calls advance(), and each before a sleep
  // Called before a thread's last poll before it sleeps. Returns the longest sleep [ns]; kNever:
  // every event from now on rings the bell; NAGAYA_NOBODY_RINGS.
  uint64_t (*before_sleep)(void* context);
  void (*after_sleep)(void* context);  // no thread of the task sleeps any more; may be nullptr
  void* context;
};

// A before_sleep for a library whose events all ring, and which one thread at a time polls under
// the lock `polling` while others skip it. If a thread holds the lock, its poll may have missed an
// event from before the bell was armed, and it may leave its wait next: then the caller only naps.
inline uint64_t sleep_beside_polls(task::SpinLock& polling) {
  if (!polling.try_lock()) return NAGAYA_NOBODY_RINGS;
  polling.unlock();
  return mailbox::kNever;
}

class Wait;

// Decides how a thread pauses between fruitless polls: it spins, yields, then sleeps.
class Backoff {
 public:
  // `waiter`: that of the thread's lane; nullptr: the thread has no lane, and is
  // not counted among those that want a processor.
  Backoff(Wait& wait, LaneWaiter* waiter, uint64_t deadline_ns)
      : wait_(wait), waiter_(waiter), deadline_ns_(deadline_ns) {}

  // Called after a poll that has handled something: ends the run of fruitless polls.
  void found() {
    if (fruitless_polls_ != 0) end_fruitless_polls();
    partner_spin_end_ns_ = 0;
  }
  bool has_time() const { return !mailbox::has_passed<mailbox::Machine>(deadline_ns_); }
  bool is_last_poll() const { return is_armed_; }
  // Called after a fruitless poll: the next pause is a sleep.
  void skip_to_sleep() {
    if (fruitless_polls_ < Table::kPollsAwake) fruitless_polls_ = Table::kPollsAwake;
    awake_end_ns_ = 0;
    partner_spin_end_ns_ = mailbox::kNever;
  }
  bool is_probe_due() {
    const bool is_due = slept_ns_ >= probe_at_ns_;
    if (is_due) [[unlikely]]
      probe_at_ns_ = slept_ns_ + kProbeNs;
    return is_due;
  }

  // The functions that mailbox::wait() calls.
  mailbox::Pause pause() {
    return is_early() ? (++fruitless_polls_, mailbox::Pause::kSpin) : pause_late();
  }
  void spin() {}  // a poll takes long enough
  void yield();
  void arm();
  void sleep();
  void disarm();

 private:
  friend class Wait;
  using Table = mailbox::WaitTable;
  static constexpr uint64_t kProbeNs = 1'000'000'000;
  static constexpr uint32_t kPollsCounted = std::max(Table::kSpins, Table::kPollsAwake);

  bool is_early() const;
  mailbox::Pause pause_late();
  bool is_delegatee_asleep() const;
  void end_fruitless_polls();
  bool may_spin_for_partner();
  void become(uint32_t state);

  Wait& wait_;
  LaneWaiter* waiter_;
  const uint64_t deadline_ns_;
  uint32_t fruitless_polls_ = 0;
  uint32_t armed_ = 0;  // the bell's word when it was armed
  bool is_armed_ = false;
  bool is_short_nap_ = false;         // the next sleep, or the latest one, is one beside a sleeper
  uint64_t awake_end_ns_ = 0;         // set at poll kPollsBeforeAnnouncing
  uint64_t partner_spin_end_ns_ = 0;  // end of the spin for the partner; 0: not begun; kNever: over
  uint64_t nap_ns_ = Table::kNapNs, longest_ns_ = 0, slept_ns_ = 0, probe_at_ns_ = kProbeNs;
};

class Wait {
 public:
  static constexpr size_t kProgressesMax = 16;

  Wait(Board& board, mailbox::Owner self) : board_(board), self_(self) {}

  // Registers a library. Returns 0, -ENOSPC.
  int add(const Progress& progress);
  void remove(const void* context);  // no thread may be in one of the library's functions
  // Called before the first poll(): threads that poll in vain are counted through `waiter`.
  void begin_polls(LaneWaiter* waiter);
  // From now on several threads may call poll(), or wait for events of registered libraries.
  void enable_threads() { has_threads_.store(true, std::memory_order_relaxed); }

  // If a registered library cannot go on, the wait continues, or ends with the library's error.
  enum class OnError { kWaitOn, kEnd };

  // Waits until is_over() (returns 0), the deadline (-ETIMEDOUT), or with kEnd an error of a
  // registered library. While the thread sleeps, probe() is called about every second: it may
  // change the result of is_over(), and must not wait itself. An is_over with a function is_far()
  // is that of a wait in a queue: while is_far() returns true, others come first, and the thread
  // sleeps at once. An event that changes is_far() rings the bell. `purpose` is for readers of the
  // task's activity.
  template <class IsOver, class Probe>
  int until(Purpose purpose, IsOver is_over, uint64_t deadline_ns, LaneWaiter* waiter, Probe probe,
            OnError on_error) {
    if (is_over()) return 0;
    RecordedWait recorded(recorder_, purpose);
    Backoff backoff(*this, waiter, deadline_ns);
    int error = 0;
    bool was_far = false;
    const auto poll_once = [&] {
      if (backoff.is_probe_due()) probe();
      while (!is_over()) {
        const int moved = advance(backoff.is_last_poll());
        if (moved < 0 && on_error == OnError::kEnd) [[unlikely]]
          return error = moved, true;
        if (moved <= 0 && !help()) {
          recorded.polled();
          if constexpr (requires { is_over.is_far(); }) {
            const bool is_far = is_over.is_far();
            if (is_far)
              backoff.skip_to_sleep();
            else if (was_far)
              backoff.found();
            was_far = is_far;
          }
          return false;
        }
        backoff.found();
        if (!backoff.has_time()) return is_over();
      }
      return true;
    };
    const bool has_ended = mailbox::wait(poll_once, backoff);
    backoff.found();
    return has_ended ? error : -ETIMEDOUT;
  }
  // Polls in place of the task's one other thread, and sleeps between polls. The libraries may be
  // open for one thread: they are called only between take(), which returns whether the caller may
  // call them now, and give_back(). Returns when take() returns false.
  template <class Take, class GiveBack>
  void poll_by_turns(Take take, GiveBack give_back) {
    TurnBackoff<Take, GiveBack> backoff{*this, take, give_back};
    const auto poll_once = [&] {
      for (;;) {
        if (!take()) return true;
        const int moved = advance(backoff.is_armed);
        give_back();
        if (moved <= 0 && !help()) return false;
        backoff.polls = 0;
      }
    };
    mailbox::wait(poll_once, backoff);
  }
  // Polls once. If that has handled nothing, pauses without sleep and polls again. Returns how many
  // events were handled, or an error.
  int poll();
  // Called after an event was handled for which another thread may wait: wakes the task's threads.
  void wake_threads() {
    if (has_threads_.load(std::memory_order_relaxed)) bell().ring();
  }
  // Called after an event was handled outside of poll(): ends poll()'s run of fruitless polls.
  void found() {
    with_polls([this] { polls_.found(); });
  }

  Recorder& recorder() { return recorder_; }

  // The caller's next wait is probably for a message or an answer of that task of this node.
  void set_partner(uint32_t task) { partner_.store(task, std::memory_order_relaxed); }
  static constexpr uint32_t kNobody = UINT32_MAX;

 private:
  friend class Backoff;
  struct Entry {
    std::atomic<int (*)(void*)> advance;  // nullptr: removed. Stored after `progress`
    Progress progress;
  };

  // How poll_by_turns() pauses. It sleeps after few polls: its task's other thread may be busy on
  // the same processor.
  template <class Take, class GiveBack>
  struct TurnBackoff {
    mailbox::Pause pause() {
      return polls++ < kYieldsByTurns ? mailbox::Pause::kYield : mailbox::Pause::kSleep;
    }
    void spin() {}
    void yield() { mailbox::Machine::yield(); }
    // Without a turn the wait is about to end: nothing is armed.
    void arm() {
      is_armed = take();
      if (!is_armed) return;
      armed = wait.arm(longest_ns = mailbox::WaitTable::kLongestNapNs);
      give_back();
    }
    // Does not sleep if the last poll has handled something, because more may follow.
    void sleep() {
      if (is_armed && polls != 0)
        wait.bell().sleep(armed,
                          mailbox::end_of_sleep<mailbox::Machine>(longest_ns, mailbox::kNever));
    }
    void disarm() {
      if (std::exchange(is_armed, false)) wait.disarm();
    }

    Wait& wait;
    Take& take;
    GiveBack& give_back;
    uint32_t polls = 0, armed = 0;
    uint64_t longest_ns = 0;
    bool is_armed = false;
  };
  static constexpr uint32_t kYieldsByTurns = 20;

  // Advances the registered libraries. Returns how many events they have handled; if none, the
  // error of one of them, or 0.
  int advance(bool is_last_poll) {
    int count = 0, error = 0;
    const uint32_t number = advances_.load(std::memory_order_relaxed) + 1;
    advances_.store(number, std::memory_order_relaxed);
    const uint32_t size = size_.load(std::memory_order_acquire);  // pairs with add
    for (uint32_t n = 0; n < size; ++n) {
      const auto function = all_[n].advance.load(std::memory_order_acquire);  // pairs with add
      if (function == nullptr) continue;
      const Progress& progress = all_[n].progress;
      if (!is_last_poll && (number & (progress.every - 1)) != 0) continue;
      const int moved = function(progress.context);
      if (moved < 0) [[unlikely]]
        error = moved;
      else
        count += moved;
    }
    if (count != 0) wake_threads();
    return count != 0 ? count : error;
  }
  bool help() {
    if (!board_.copies->any()) return false;
    const uint64_t bytes = board_.copies->help(self_);
    if (bytes != 0) count(board_, self_, &TaskActivity::copied_bytes, bytes);
    return bytes != 0;
  }
  mailbox::Doorbell& bell() { return board_.ports[self_.number()].bell(); }
  bool has_other_nodes() const { return board_.nodes.load(std::memory_order_relaxed) > 1; }
  bool is_partner_running() const;
  void show_idle(bool is_idle);
  uint32_t arm(uint64_t& longest_ns);
  void disarm();
  // Calls function(), unless another thread is in such a call: then this thread's poll is not
  // counted.
  template <class Function>
  void with_polls(Function function) {
    if (!has_threads_.load(std::memory_order_relaxed)) return function();
    if (!polls_lock_.try_lock()) return;
    function();
    polls_lock_.unlock();
  }

  Board& board_;
  const mailbox::Owner self_;
  Recorder recorder_{board_, self_};
  // The next three are relaxed: hints.
  std::atomic<uint32_t> partner_ = kNobody;
  std::atomic<bool> has_threads_ = false;
  std::atomic<uint32_t> advances_ = 0;  // of all threads; misses some if several advance at once
  std::array<Entry, kProgressesMax> all_{};
  std::atomic<uint32_t> size_ = 0;
  task::SpinLock lock_;    // guards changes of all_, and sleepers_
  uint32_t sleepers_ = 0;  // number of the task's threads between arm() and disarm()
  task::SpinLock polls_lock_;
  Backoff polls_{*this, nullptr, mailbox::kNever};  // of poll()
};

// nagaya_llcl_wait() with a purpose, for floors that have no Endpoint at hand.
int wait(Purpose purpose, int (*is_over)(void* context), void* context, int timeout_ms);

// Whether this is one of the first polls, within which the answer to a message of the caller
// arrives: inline, because each nanosecond counts.
inline bool Backoff::is_early() const {
  return fruitless_polls_ != 0 && fruitless_polls_ + 1 < Table::kPollsBeforeAnnouncing &&
         !wait_.board_.load.crowded();
}

}  // namespace nagaya::llcl
