// SPDX-License-Identifier: BSD-3-Clause
// wait.h - how the threads of a task wait, whatever they wait for (law 11). A look of a waiting
// thread moves everything that its task owes to others, too: the libraries registered here, and
// chunks of large copies of its peers.
//
//   until(is_over)   look: is_over? all that is registered, copies ──► Patience: spin, yield, sleep
//   poll()           for callers that do not say what they wait for: one look, and at most a yield
//
// A sleeping thread sleeps on the bell of its task, board.ports[task].bell(). Every event that may
// end its wait rings that bell:
//
//   | the event that ends the wait                    | its ringer                           |
//   | a message                                       | its poster: the mailbox has a mark   |
//   | a completion by the delegatee                   | the delegatee                        |
//   | a notification, a copy that is offered          | wake_task()                          |
//   | another thread of the task, which has moved     | that thread, at the end of its look  |
//   | something for which nobody rings                | nobody: naps end by themselves, soon |
//   |                                                 | if before_sleep() says so            |
//
// Thread safety: all functions by any threads of the task. The threads that sleep take turns by a
// lock of the task's to arm and disarm the one bell.
// Death: all shared data are the board's (board.h), and the host takes them back.
#pragma once

#include <errno.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "llcl/board.h"
#include "nagaya/llcl.h"
#include "task/space/spin_lock.h"

namespace nagaya::llcl {

// Something that every wait of the task moves along. Any thread of the task calls the functions,
// and several at once; they must not wait, and throw nothing.
struct Progress {
  // Looks once; how much has moved, or a negative errno: it cannot go on (-ENOMEM).
  int (*advance)(void* context);
  uint32_t every;  // so many looks of the task: a power of two. Before a sleep in any case
  // A thread is about to sleep, and looks once more after this: how long it may [ns]; kNever: every
  // event from now on rings the bell; NAGAYA_NOBODY_RINGS.
  uint64_t (*before_sleep)(void* context);
  void (*after_sleep)(void* context);  // no thread of the task sleeps any more; may be nullptr
  void* context;
};

// The before_sleep of something whose events all ring, at which one thread at a time looks while
// the others pass on: a look under way may have passed what came before the bell was armed, and its
// thread may leave its wait next.
inline uint64_t sleep_beside_looks(task::SpinLock& looks) {
  if (!looks.try_lock()) return NAGAYA_NOBODY_RINGS;
  looks.unlock();
  return mailbox::kNever;
}

class Wait;

// One thread's waiting, from its first look in vain to the next one that is not.
class Patience {
 public:
  // `waiter`: of the thread's lane; nullptr: it has none, and is not counted.
  Patience(Wait& wait, LaneWaiter* waiter, uint64_t deadline_ns)
      : wait_(wait), waiter_(waiter), deadline_ns_(deadline_ns) {}

  // Something has moved: the looks in vain are over.
  void found() {
    if (looks_ != 0) end_looks();
    beside_until_ns_ = 0;
  }
  bool has_time() const { return !mailbox::has_passed<mailbox::Machine>(deadline_ns_); }
  bool is_last_look() const { return is_armed_; }
  bool is_probe_due() {
    const bool is_due = slept_ns_ >= probe_at_ns_;
    if (is_due) [[unlikely]]
      probe_at_ns_ = slept_ns_ + kProbeNs;
    return is_due;
  }

  // The waiter of mailbox::wait().
  mailbox::Pause pause() { return is_early() ? (++looks_, mailbox::Pause::kSpin) : pause_late(); }
  void spin() {}  // a look takes long enough
  void yield();
  void arm();
  void sleep();
  void disarm();

 private:
  friend class Wait;
  using Table = mailbox::WaitTable;
  static constexpr uint64_t kProbeNs = 1'000'000'000;

  bool is_early() const;
  mailbox::Pause pause_late();
  void end_looks();
  bool is_beside_partner();
  void become(uint32_t state);

  Wait& wait_;
  LaneWaiter* waiter_;
  const uint64_t deadline_ns_;
  uint32_t looks_ = 0;  // in vain
  uint32_t armed_ = 0;  // the bell's word
  bool is_armed_ = false;
  uint64_t beside_until_ns_ = 0;  // 0: it has not begun; kNever: it is over
  uint64_t nap_ns_ = Table::kNapNs, longest_ns_ = 0, slept_ns_ = 0, probe_at_ns_ = kProbeNs;
};

class Wait {
 public:
  static constexpr size_t kProgressesMax = 16;

  Wait(Board& board, mailbox::Owner self) : board_(board), self_(self) {}

  // Returns 0, -ENOSPC.
  int add(const Progress& progress);
  void remove(const void* context);  // no thread is in one of its functions
  // Before anybody polls: a thread that does so is counted as that waiter.
  void begin_polls(LaneWaiter* waiter);
  // Several threads may poll, or wait for what is registered, from now on.
  void expect_threads() { has_threads_.store(true, std::memory_order_relaxed); }

  // Something registered cannot go on: the wait goes on, or ends.
  enum class OnError { kWaitOn, kEnd };

  // Until is_over() (0), the deadline (-ETIMEDOUT), or with kEnd an error of what is registered.
  // While the thread sleeps, probe() is called about every second: it may change what is_over()
  // says, and must not wait itself.
  template <class IsOver, class Probe>
  int until(IsOver is_over, uint64_t deadline_ns, LaneWaiter* waiter, Probe probe,
            OnError on_error) {
    if (is_over()) return 0;
    Patience patience(*this, waiter, deadline_ns);
    int error = 0;
    const auto look = [&] {
      if (patience.is_probe_due()) probe();
      while (!is_over()) {
        const int moved = advance(patience.is_last_look());
        if (moved < 0 && on_error == OnError::kEnd) [[unlikely]]
          return error = moved, true;
        if (moved <= 0 && !help()) return false;
        patience.found();
        if (!patience.has_time()) return is_over();
      }
      return true;
    };
    const bool has_ended = mailbox::wait(look, patience);
    patience.found();
    return has_ended ? error : -ETIMEDOUT;
  }
  // One look, and another one after a pause without sleep if nothing has moved; how much has, or an
  // error.
  int poll();
  // Something has moved for which another thread may wait.
  void tell_threads() {
    if (has_threads_.load(std::memory_order_relaxed)) bell().ring();
  }
  // Something has moved but by poll().
  void found() {
    with_polls([this] { polls_.found(); });
  }

  // A message or an answer of that task of this node is probably what the caller waits for next.
  void expect(uint32_t task) { partner_.store(task, std::memory_order_relaxed); }
  static constexpr uint32_t kNobody = UINT32_MAX;

 private:
  friend class Patience;
  struct Entry {
    std::atomic<int (*)(void*)> advance;  // nullptr: removed. Stored after the rest
    Progress progress;
  };

  // How much has moved; nothing, and an error: the error.
  int advance(bool is_last_look) {
    int count = 0, error = 0;
    const uint32_t look = looks_.load(std::memory_order_relaxed) + 1;
    looks_.store(look, std::memory_order_relaxed);
    const uint32_t size = size_.load(std::memory_order_acquire);  // pairs with add
    for (uint32_t n = 0; n < size; ++n) {
      const auto function = all_[n].advance.load(std::memory_order_acquire);  // of add
      if (function == nullptr) continue;
      const Progress& progress = all_[n].progress;
      if (!is_last_look && (look & (progress.every - 1)) != 0) continue;
      const int moved = function(progress.context);
      if (moved < 0) [[unlikely]]
        error = moved;
      else
        count += moved;
    }
    if (count != 0) tell_threads();
    return count != 0 ? count : error;
  }
  bool help() { return board_.copies->any() && board_.copies->help(self_); }
  mailbox::Doorbell& bell() { return board_.ports[self_.number()].bell(); }
  bool has_other_nodes() const { return board_.nodes.load(std::memory_order_relaxed) > 1; }
  bool is_partner_running() const;
  void be_away(bool is_away);
  uint32_t arm(uint64_t& longest_ns);
  void disarm();
  // Calls function, unless another thread is in there just now: then this one need not count.
  template <class Function>
  void with_polls(Function function) {
    if (!has_threads_.load(std::memory_order_relaxed)) return function();
    if (!polls_lock_.try_lock()) return;
    function();
    polls_lock_.unlock();
  }

  Board& board_;
  const mailbox::Owner self_;
  // Relaxed: hints.
  std::atomic<uint32_t> partner_ = kNobody;
  std::atomic<bool> has_threads_ = false;
  std::atomic<uint32_t> looks_ = 0;  // not all of them, if threads look at once
  std::array<Entry, kProgressesMax> all_{};
  std::atomic<uint32_t> size_ = 0;
  task::SpinLock lock_;    // of all_ while it changes, and of sleepers_
  uint32_t sleepers_ = 0;  // threads of the task
  task::SpinLock polls_lock_;
  Patience polls_{*this, nullptr, mailbox::kNever};  // of poll()
};

// A message that answers one of the caller's comes within these looks: each nanosecond counts.
inline bool Patience::is_early() const {
  return looks_ != 0 && looks_ + 1 < Table::kSoon && !wait_.board_.load.crowded();
}

}  // namespace nagaya::llcl
