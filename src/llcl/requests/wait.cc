// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/requests/wait.h"

#include <errno.h>

#include <mutex>

namespace nagaya::llcl {

using mailbox::Machine;
using mailbox::Pause;

// ---- libraries that every poll advances ---------------------------------------------------------

int Wait::add(const Progress& progress) {
  const std::lock_guard lock(lock_);
  uint32_t n = 0;
  while (n < size_ && all_[n].advance.load(std::memory_order_relaxed) != nullptr) ++n;
  if (n == all_.size()) return -ENOSPC;
  all_[n].progress = progress;
  all_[n].advance.store(progress.advance, std::memory_order_release);  // pairs with advance
  if (n == size_) size_.store(n + 1, std::memory_order_release);       // pairs with advance
  return 0;
}

void Wait::remove(const void* context) {
  const std::lock_guard lock(lock_);
  for (Entry& entry : all_)
    if (entry.progress.context == context) entry.advance.store(nullptr, std::memory_order_relaxed);
}

// ---- polls --------------------------------------------------------------------------------------

void Wait::begin_polls(LaneWaiter* waiter) {
  polls_.waiter_ = waiter;
}

int Wait::poll() {
  show_idle(false);
  int count = advance(false);
  if (count == 0) {
    if (help()) return 1;
    Pause pause = Pause::kYield;
    with_polls([&] { pause = polls_.pause(); });
    if (pause != Pause::kSpin) polls_.yield();
    count = advance(false);  // events that arrived while others ran
  }
  if (count > 0)
    found();
  else
    show_idle(true);
  return count;
}

// ---- sleep --------------------------------------------------------------------------------------

// Arms the bell and counts the thread as a sleeper. Returns the bell's word; lowers longest_ns to
// the longest sleep that the registered libraries allow [ns].
uint32_t Wait::arm(uint64_t& longest_ns) {
  std::unique_lock lock(lock_);
  ++sleepers_;
  const uint32_t armed = bell().arm();
  for (Entry& entry : all_)
    if (entry.advance.load(std::memory_order_relaxed) != nullptr) {
      const uint64_t wanted_ns = entry.progress.before_sleep(entry.progress.context);
      longest_ns = std::min(longest_ns, wanted_ns == NAGAYA_NOBODY_RINGS
                                            ? mailbox::WaitTable::kNapWithoutBellNs
                                            : wanted_ns);
    }
  board_.asleep.fetch_add(1, std::memory_order_relaxed);
  board_.sleepers[self_.number()].count.fetch_add(1, std::memory_order_relaxed);
  lock.unlock();  // the heavy fence is a system call, for which other threads need not wait
  // Orders the stores of the counts before the last poll; see wake_task. Wakers of a group do not
  // fence themselves: before a long sleep this thread makes all tasks fence.
  if (board_.has_heavy_fence && longest_ns > mailbox::WaitTable::kNapWithoutBellNs)
    Machine::heavy_fence();
  else
    Machine::fence();
  return armed;
}

void Wait::disarm() {
  const std::lock_guard lock(lock_);
  board_.sleepers[self_.number()].count.fetch_sub(1, std::memory_order_relaxed);
  board_.asleep.fetch_sub(1, std::memory_order_relaxed);
  if (--sleepers_ != 0) return;
  for (Entry& entry : all_)
    if (entry.advance.load(std::memory_order_relaxed) != nullptr &&
        entry.progress.after_sleep != nullptr)
      entry.progress.after_sleep(entry.progress.context);
  bell().disarm();
}

// ---- the partner --------------------------------------------------------------------------------

// Shows other tasks whether this one is idle (TaskWaiter::is_idle). Stores only a change, because
// other tasks poll the line.
void Wait::show_idle(bool is_idle) {
  std::atomic<uint32_t>& said = board_.task_waiters[self_.number()].is_idle;
  if (said.load(std::memory_order_relaxed) != is_idle)
    said.store(is_idle, std::memory_order_relaxed);
}

// Returns whether the expected sender is running on another processor. False while threads wait for
// the delegatee, which needs a processor. (False also with several threads, where each poll would
// take a lock.)
bool Wait::is_partner_running() const {
  const uint32_t partner = partner_.load(std::memory_order_relaxed);
  return partner != kNobody && !has_threads_.load(std::memory_order_relaxed) &&
         board_.load.waiting.load(std::memory_order_relaxed) == 0 &&
         board_.task_waiters[partner].is_idle.load(std::memory_order_relaxed) == 0;
}

// ---- one thread's backoff -----------------------------------------------------------------------

// Returns whether to spin for the partner's next message instead of yielding: on a crowded node,
// for up to kPartnerSpinNs after the last event, while the partner is running
// (docs/decisions/0011).
bool Backoff::may_spin_for_partner() {
  if (partner_spin_end_ns_ == mailbox::kNever) return false;
  if (partner_spin_end_ns_ == 0 && wait_.board_.load.crowded() && wait_.is_partner_running())
    partner_spin_end_ns_ = Machine::now_ns() + Table::kPartnerSpinNs;
  else if (partner_spin_end_ns_ == 0 || !wait_.is_partner_running() ||
           Machine::now_ns() >= partner_spin_end_ns_)
    partner_spin_end_ns_ = mailbox::kNever;
  return partner_spin_end_ns_ != mailbox::kNever;
}

Pause Backoff::pause_late() {
  if (fruitless_polls_ % 64 == 0 && !has_time()) return Pause::kGiveUp;
  if (may_spin_for_partner()) return Pause::kSpin;
  if (fruitless_polls_ <= kPollsCounted) ++fruitless_polls_;
  if (fruitless_polls_ == Table::kPollsBeforeAnnouncing) {
    become(LaneWaiter::kAwake);
    awake_end_ns_ = Machine::now_ns() + Table::kAwakeNs;
  }
  const mailbox::Load& load = wait_.board_.load;
  const bool awaits_delegatee =
      fruitless_polls_ >= Table::kPollsBeforeAnnouncing && wait_.has_other_nodes();
  const bool is_beside_a_sleeper = fruitless_polls_ > Table::kPollsBesideASleeper &&
                                   awaits_delegatee && !load.has_room() && is_delegatee_asleep();
  const bool has_waited_long =
      fruitless_polls_ > Table::kPollsAwake && Machine::now_ns() >= awake_end_ns_;
  const bool sleeps = has_waited_long || is_beside_a_sleeper;
  if (!sleeps && fruitless_polls_ <= Table::kSpins && !load.crowded() && !awaits_delegatee)
    return Pause::kSpin;
  if (!has_time()) return Pause::kGiveUp;
  is_short_nap_ = !has_waited_long;
  longest_ns_ = is_short_nap_ ? Table::kShortNapNs : nap_ns_;
  return sleeps ? Pause::kSleep : Pause::kYield;
}

// Whether the delegatee of the thread's lane sleeps, or is about to.
bool Backoff::is_delegatee_asleep() const {
  Board& board = wait_.board_;
  const uint32_t lane =
      waiter_ == nullptr ? 0 : static_cast<uint32_t>(waiter_ - board.lane_waiters);
  return board.bell_of(lane).is_armed();
}

void Backoff::end_fruitless_polls() {
  wait_.show_idle(false);
  if (fruitless_polls_ >= Table::kPollsBeforeAnnouncing) become(LaneWaiter::kNo);
  fruitless_polls_ = 0;
  nap_ns_ = Table::kNapNs;
}

void Backoff::yield() {
  wait_.show_idle(true);
  Machine::yield();
  wait_.show_idle(false);
}

void Backoff::arm() {
  armed_ = wait_.arm(longest_ns_);
  is_armed_ = true;
  become(LaneWaiter::kAsleep);
  wait_.show_idle(true);
}

// Sleeps until the bell rings or the time is up. Does not sleep if the last poll has handled
// something, because more may follow.
void Backoff::sleep() {
  if (fruitless_polls_ == 0 || longest_ns_ == 0) return;
  wait_.bell().sleep(armed_, mailbox::end_of_sleep<Machine>(longest_ns_, deadline_ns_));
  if (is_short_nap_) return;
  slept_ns_ += longest_ns_;
  nap_ns_ = std::min(std::max(std::min(2 * nap_ns_, Table::kLongNapNs), slept_ns_ / 8),
                     Table::kLongestNapNs);
}

void Backoff::disarm() {
  is_armed_ = false;
  wait_.disarm();
  become(fruitless_polls_ == 0 ? LaneWaiter::kNo : LaneWaiter::kAwake);
  wait_.show_idle(false);
}

// Shows the thread's state in its waiter. In a job of one node kAwake is shown as kNo: nothing
// there uses the count of threads that wait awake.
void Backoff::become(uint32_t state) {
  if (waiter_ == nullptr) return;
  const bool matters = state != LaneWaiter::kAwake || wait_.has_other_nodes();
  llcl::become(wait_.board_.load, *waiter_, matters ? state : LaneWaiter::kNo);
}

}  // namespace nagaya::llcl
