// SPDX-License-Identifier: BSD-3-Clause
#include "window/locks.h"

#include <utility>

namespace nagaya::window {

LockRequest::LockRequest(Window& window, uint32_t target, bool is_exclusive, bool has_others)
    : window_(window),
      target_(target),
      part_(window.part(target)),
      turns_(window.first_part().turns),
      has_others_(has_others),
      access_(is_exclusive ? Access::kUncountedExclusive : Access::kShared) {
  if (is_exclusive && part_.lock.has_lock_all())
    enter_queue();
  else
    enter_target();
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
  AwaitedLock& awaited = window_.part(window_.rank()).awaited;
  if (!is_target_granted()) {
    if (awaited_ == 0)
      awaited.add(awaited_ = AwaitedLock::of(window_.index_of(target_), ticket_,
                                             window_.epochs().has_threads()));
    return false;
  }
  if (awaited_ != 0) awaited.remove(std::exchange(awaited_, 0));
  if (access_ != Access::kShared) return is_exclusive_granted();
  window_.group().light_fence();  // the grant before the load of who waits
  if (may_hold_up_lock_all())
    window_.group().wake();
  else if (part_.lock.has_waiters())
    window_.wake_line(target_);
  return true;
}

bool LockRequest::is_target_granted() {
  return access_ == Access::kShared ? part_.lock.try_shared(ticket_)
                                    : part_.lock.is_exclusive(ticket_);
}

bool LockRequest::is_far() const {
  return step_ == Step::kTarget && window_.is_crowded() &&
         ticket_.place() - part_.lock.place_to_go_on() >= Window::kAwakeInLine * Ticket::kOne;
}

// Whether the first lock_all may wait until this target's tickets have gone on.
bool LockRequest::may_hold_up_lock_all() const {
  return part_.lock.has_lock_all() &&
         window_.first_part().has_lock_all.load(std::memory_order_relaxed) == 0;
}

// Called with the target's lock. If the first lock_all had begun before the request, gives the lock
// back and queues for it.
bool LockRequest::is_exclusive_granted() {
  if (access_ == Access::kExclusive || !ticket_.has_lock_all()) return true;
  window_.unlock(target_, Access::kUncountedExclusive);
  enter_queue();
  return false;
}

Access try_lock(Window& window, uint32_t target) {
  const std::optional<Ticket> ticket = window.part(target).lock.try_exclusive();
  if (!ticket) return Access::kNone;
  if (!ticket->has_lock_all()) return Access::kUncountedExclusive;
  Turns& turns = window.first_part().turns;
  if (!turns.has_queue() && turns.try_enter_exclusive()) return Access::kExclusive;
  window.unlock(target, Access::kUncountedExclusive);
  return Access::kNone;
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
  // Acquire: pairs with the store below.
  if (has_lock_all.load(std::memory_order_acquire) != 0) return true;
  for (; announced_to_ < window_.members_here(); ++announced_to_) {
    TargetLock& lock = window_.part_at(announced_to_).lock;
    if (!awaited_) awaited_ = lock.announce_lock_all();
    if (!lock.has_reached(*awaited_)) return false;
    awaited_.reset();
  }
  has_lock_all.store(1, std::memory_order_release);
  return true;
}

}  // namespace nagaya::window
