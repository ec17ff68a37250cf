// SPDX-License-Identifier: BSD-3-Clause
// locks.h - requests for locks of a window, which their thread polls until they are granted.
#pragma once

#include <optional>

#include "window/window.h"

namespace nagaya::window {

// A request for the lock of one target of this node:
//
//   shared      kTarget
//   exclusive   while nobody has called lock_all:  kTarget
//               else                               kQueue, kEnter, kTarget      (turns.h)
class LockRequest {
 public:
  // `has_others`: the member has a lock of this window already.
  LockRequest(Window& window, uint32_t target, bool is_exclusive, bool has_others);

  // Returns true when the lock is held: then access() says how.
  bool is_granted();
  Access access() const { return access_; }
  // Whether the thread may sleep until Window::wake_line() wakes it: it waits in a crowd, and its
  // ticket is not one of the next.
  bool is_far() const;

 private:
  enum class Step { kQueue, kEnter, kTarget };

  void enter_queue();
  void enter_target();
  bool is_target_granted();
  bool is_exclusive_granted();
  bool may_hold_up_lock_all() const;

  Window& window_;
  const uint32_t target_;
  Part& part_;
  Turns& turns_;
  const bool has_others_;
  Access access_;
  Step step_ = Step::kTarget;
  uint32_t turn_ = 0;
  Ticket ticket_;
  uint64_t awaited_ = 0;  // what the request has added to the member's AwaitedLock
};

// Locks a target of this node exclusively if that is possible without waiting. Returns how it is
// locked, or Access::kNone.
Access try_lock(Window& window, uint32_t target);

// A request for the locks of all targets of this node.
class LockAllRequest {
 public:
  explicit LockAllRequest(Window& window)
      : window_(window), turns_(window.first_part().turns), turn_(turns_.take_ticket()) {}

  bool is_granted();

 private:
  bool is_announced();

  Window& window_;
  Turns& turns_;
  const uint32_t turn_;
  uint32_t announced_to_ = 0;      // the targets below have no uncounted exclusive lock
  std::optional<Ticket> awaited_;  // of the next target, which knows of lock_all
};

}  // namespace nagaya::window
