// SPDX-License-Identifier: BSD-3-Clause
#include "window/locks.h"

namespace nagaya::window {

LockRequest::LockRequest(Window& window, uint32_t target, bool is_exclusive, bool has_others)
    : window_(window),
      target_(target),
      part_(window.part(target)),
      turns_(window.first_part().turns),
      has_others_(has_others),
      access_(is_exclusive ? Access::kUncountedExclusive : Access::kShared) {
  if (is_exclusive && has_lock_all())
    enter_queue();
  else
    enter_target();
}

bool LockRequest::has_lock_all() const {
  return window_.first_part().has_lock_all.load(std::memory_order_relaxed) != 0;
}

void LockRequest::enter_queue() {
  access_ = Access::kExclusive;
  if (!has_others_ && !turns_.has_queue() && turns_.try_enter_exclusive()) return enter_target();
  step_ = has_others_ ? Step::kEnter : Step::kQueue;
  if (!has_others_) turn_ = turns_.take_ticket();
}

void LockRequest::enter_target() {
  step_ = Step::kTarget;
  ticket_ = part_.lock.take_ticket();
}

bool LockRequest::is_granted() {
  if (step_ == Step::kQueue) {
    if (!turns_.is_turn_of(turn_)) return false;
    step_ = Step::kEnter;
  }
  if (step_ == Step::kEnter) {
    if (!turns_.try_enter_exclusive()) return false;
    if (!has_others_ && turns_.pass_on(turn_)) window_.group().wake();
    enter_target();
  }
  if (access_ != Access::kShared) return part_.lock.is_exclusive(ticket_) && is_exclusive_granted();
  if (!part_.lock.try_shared(ticket_)) return false;
  window_.group().light_fence();  // the grant before the load of who waits
  if (part_.lock.has_waiters()) window_.group().wake();
  return true;
}

// Called with the target's lock. If the first lock_all has begun meanwhile, gives the lock back and
// queues for it.
bool LockRequest::is_exclusive_granted() {
  if (access_ == Access::kExclusive) return true;
  part_.uncounted_exclusive.store(1, std::memory_order_relaxed);
  // Pairs with LockAllRequest's; a lock_all of another node makes nobody execute one.
  if (window_.has_other_nodes())
    std::atomic_thread_fence(std::memory_order_seq_cst);
  else
    window_.group().light_fence();
  if (!has_lock_all()) return true;
  window_.unlock(target_, Access::kUncountedExclusive);
  enter_queue();
  return false;
}

bool LockAllRequest::is_granted() {
  if (!turns_.is_turn_of(turn_) || !is_announced() || !turns_.try_enter_all()) return false;
  if (turns_.pass_on(turn_)) window_.group().wake();
  return true;
}

// Announces the first lock_all to exclusive locks. Returns whether all are gone that came before.
// Called by the holder of the turn.
bool LockAllRequest::is_announced() {
  std::atomic<uint32_t>& has_lock_all = window_.first_part().has_lock_all;
  if (has_lock_all.load(std::memory_order_acquire) == Part::kAnnounced) return true;
  if (!has_begun_) {
    has_begun_ = true;
    has_lock_all.store(Part::kAnnouncing, std::memory_order_relaxed);
    window_.group().heavy_fence();  // pairs with is_exclusive_granted()'s
  }
  // Acquire: pairs with unlock().
  for (; announced_to_ < window_.members_here(); ++announced_to_)
    if (window_.part_at(announced_to_).uncounted_exclusive.load(std::memory_order_acquire) != 0)
      return false;
  has_lock_all.store(Part::kAnnounced, std::memory_order_release);
  return true;
}

}  // namespace nagaya::window
