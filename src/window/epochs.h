// SPDX-License-Identifier: BSD-3-Clause
// epochs.h - the epochs that a member has opened, and so the accesses that it may make. In its own
// memory.
//
//   kIdle ──fence──► kFence ──access──► kFenceUsed ──fence──► kFence
//     │                │                                      (with NO_SUCCEED: kIdle)
//     ├────────────────┤ start       ► kStarted ──complete──► kIdle
//     ├────────────────┤ lock        ► kLocked ──the last unlock──► kIdle
//     └────────────────┘ lock_all    ► kLockingAll ──granted──► kLockedAll ──unlock_all──► kIdle
//
// While a fence waits the state is kFencing. A fence whose epoch nobody has used may have been the
// last one: other epochs may follow it.
// Threads: calls that change epochs take the lock if several threads may call; accesses read
// without it, because no thread may end an epoch that another one still uses.
#pragma once

#include <errno.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "task/space/spin_lock.h"

namespace nagaya::window {

// The caller's access to one target.
enum class Access : uint8_t {
  kNone,
  kRequested,  // a thread waits for the lock
  kStarted,
  kShared,
  kExclusive,
  kUncountedExclusive,  // turns.h
  kUnchecked            // a lock with NO_CHECK, which holds nothing
};

class Epochs {
 public:
  // May throw std::bad_alloc.
  Epochs(uint32_t members, bool has_threads)
      : has_threads_(has_threads), targets_(new std::atomic<Access>[members]()) {}

  bool has_threads() const { return has_threads_; }
  // Returns whether the caller may access the memory of `rank`.
  bool may_access(uint32_t rank) const {
    const State now = state();
    return target(rank) > Access::kRequested || now == State::kFence || now == State::kFenceUsed ||
           now == State::kLockedAll;
  }
  // Called after an access.
  void note_access() {
    State fence = State::kFence;
    if (state() == fence)
      state_.compare_exchange_strong(fence, State::kFenceUsed, std::memory_order_relaxed);
  }
  Access target(uint32_t rank) const { return targets_[rank].load(std::memory_order_relaxed); }
  void set_target(uint32_t rank, Access access) {
    targets_[rank].store(access, std::memory_order_relaxed);
  }

  // Each returns 0, or why the epoch may not begin or end; then nothing has changed.

  int begin_fence() {
    const auto lock = locked();
    if (!is_one_of(State::kFence, State::kFenceUsed)) return -EBUSY;
    set(State::kFencing);
    return 0;
  }
  void end_fence(bool has_successor) { set(has_successor ? State::kFence : State::kIdle); }

  int begin_start() {
    const auto lock = locked();
    if (!is_one_of(State::kFence, State::kFence)) return -EBUSY;
    set(State::kStarted);
    return 0;
  }
  bool is_started() const { return state() == State::kStarted; }
  void end_start() { set(State::kIdle); }

  // `*has_others`: whether the member has a lock already, or a thread waits for one.
  int begin_lock(uint32_t rank, bool* has_others) {
    const auto lock = locked();
    if (state() == State::kLocked && target(rank) != Access::kNone) return -EPROTO;
    if (!is_one_of(State::kFence, State::kLocked)) return -EBUSY;
    if (locks_ == 0) before_locks_ = state();
    *has_others = locks_++ != 0;
    set_target(rank, Access::kRequested);
    set(State::kLocked);
    return 0;
  }
  // Called if begin_lock() was not followed by the lock.
  void undo_lock(uint32_t rank) {
    const auto lock = locked();
    set_target(rank, Access::kNone);
    if (--locks_ == 0) set(before_locks_);
  }
  // `*access`: how the target was locked.
  int end_lock(uint32_t rank, Access* access) {
    const auto lock = locked();
    *access = target(rank);
    if (state() != State::kLocked || *access <= Access::kRequested) return -EPROTO;
    set_target(rank, Access::kNone);
    if (--locks_ == 0) set(State::kIdle);
    return 0;
  }
  bool has_lock(uint32_t rank) const {
    return state() == State::kLocked && target(rank) > Access::kRequested;
  }
  bool has_locks() const { return state() == State::kLocked || has_lock_all(); }

  int begin_lock_all(bool is_unchecked) {
    const auto lock = locked();
    if (has_lock_all() || state() == State::kLockingAll) return -EPROTO;
    if (!is_one_of(State::kFence, State::kFence)) return -EBUSY;
    is_lock_all_unchecked_ = is_unchecked;
    set(is_unchecked ? State::kLockedAll : State::kLockingAll);
    return 0;
  }
  void grant_lock_all() { set(State::kLockedAll); }
  int end_lock_all(bool* was_unchecked) {
    const auto lock = locked();
    if (state() != State::kLockedAll) return -EPROTO;
    *was_unchecked = is_lock_all_unchecked_;
    set(State::kIdle);
    return 0;
  }
  bool has_lock_all() const { return state() == State::kLockedAll; }

  // Whether no epoch is open that needs a call of its own to end.
  bool has_no_open_epoch() const { return is_one_of(State::kFence, State::kFenceUsed); }

 private:
  enum class State : uint8_t {
    kIdle,
    kFencing,
    kFence,
    kFenceUsed,
    kStarted,
    kLocked,
    kLockingAll,
    kLockedAll
  };

  State state() const { return state_.load(std::memory_order_relaxed); }
  void set(State state) { state_.store(state, std::memory_order_relaxed); }
  bool is_one_of(State one, State other) const {
    return state() == State::kIdle || state() == one || state() == other;
  }
  std::unique_lock<task::SpinLock> locked() {
    return has_threads_ ? std::unique_lock(lock_) : std::unique_lock<task::SpinLock>();
  }

  const bool has_threads_;
  bool is_lock_all_unchecked_ = false;
  std::atomic<State> state_ = State::kIdle;  // relaxed, as `targets_`: of one process
  uint32_t locks_ = 0;
  State before_locks_ = State::kIdle;  // the state in which the first of them began
  task::SpinLock lock_;
  std::unique_ptr<std::atomic<Access>[]> targets_;
};

}  // namespace nagaya::window
