// SPDX-License-Identifier: BSD-3-Clause
#include "beneath/progress.h"

#include <nagaya/llcl.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "beneath/foreign_call.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

using mailbox::Machine;

constexpr uint32_t kPollsPerPoll = 256;
constexpr uint64_t kShortestPauseNs = 1'000'000, kLongestPauseNs = 16'000'000;
constexpr int kUnusedTag = 1;  // programs' messages on MPI_COMM_SELF are ours

// Recursive: a test may lead to a callback that starts or ends an operation.
std::recursive_mutex lock;  // of all below
bool is_polling = false;
std::list<PendingBeneath*> operations;
std::optional<MPI_Request> receive_of_nothing;  // from begin() to end()
std::byte no_message;
uint32_t calls_seen = 0;
uint64_t last_call_ns = 0;
std::atomic<uint64_t> next_poll_ns = 0;

// The longer ago the last foreign call was, the longer.
uint64_t pause_ns(uint64_t now_ns) {
  return std::clamp((now_ns - last_call_ns) / 8, kShortestPauseNs, kLongestPauseNs);
}

}  // namespace

// Called with the lock.
void ProgressBeneath::poll() {
  const uint32_t calls = ForeignCalls::count();
  const uint64_t now_ns = Machine::now_ns();
  if (std::exchange(calls_seen, calls) != calls) last_call_ns = now_ns;
  next_poll_ns.store(now_ns + pause_ns(now_ns), std::memory_order_relaxed);
  if (!receive_of_nothing) return;
  int flag = 0;
  beneath.Test(&*receive_of_nothing, &flag, MPI_STATUS_IGNORE);
  for (auto one = operations.begin(); one != operations.end();) (*one++)->test_and_end();
}

void ProgressBeneath::begin() {
  receive_of_nothing = MPI_REQUEST_NULL;
  beneath.Irecv(&no_message, 1, MPI_BYTE, 0, kUnusedTag, MPI_COMM_SELF, &*receive_of_nothing);
  const nagaya_progress progress = {advance, kPollsPerPoll, before_sleep, &operations};
  ::nagaya_llcl_add_progress(&progress);
}

void ProgressBeneath::end() {
  const std::lock_guard guard(lock);
  if (!receive_of_nothing) return;
  beneath.Cancel(&*receive_of_nothing);
  beneath.Wait(&*receive_of_nothing, MPI_STATUS_IGNORE);
  receive_of_nothing.reset();
}

int ProgressBeneath::advance(void*) {
  // A thread that is away moves it, and may hold the MPI's lock for long. (Without threads the
  // caller is the completer then, which may not call the MPI beneath.)
  if (ForeignCalls::is_away()) return 0;
  if (pending_.load(std::memory_order_relaxed) == 0 &&
      Machine::now_ns() < next_poll_ns.load(std::memory_order_relaxed))
    return 0;
  const std::unique_lock guard(lock, std::try_to_lock);
  if (!guard.owns_lock() || std::exchange(is_polling, true)) return 0;
  poll();
  is_polling = false;
  return 0;
}

uint64_t ProgressBeneath::before_sleep(void*) {
  if (Completer::is_self()) return UINT64_MAX;
  if (pending_.load(std::memory_order_relaxed) != 0) return NAGAYA_NOBODY_RINGS;
  const std::unique_lock guard(lock, std::try_to_lock);
  if (!guard.owns_lock()) return NAGAYA_NOBODY_RINGS;
  return receive_of_nothing ? pause_ns(Machine::now_ns()) : UINT64_MAX;
}

void PendingBeneath::add_to_pending() {
  const std::lock_guard guard(lock);
  operations.push_back(this);
  ProgressBeneath::add_pending();
}

// Called with the lock, by a thread that has set is_polling: poll() holds a place in the list.
void PendingBeneath::test_and_end() {
  if (!test()) return;
  operations.remove(this);
  ProgressBeneath::remove_pending();
  has_ended_.store(true, std::memory_order_release);  // pairs with has_ended(); may delete it
}

bool PendingBeneath::has_ended() {
  if (has_ended_.load(std::memory_order_acquire)) return true;  // pairs with test_and_end()
  const std::unique_lock guard(lock, std::try_to_lock);
  if (!guard.owns_lock() || std::exchange(is_polling, true)) return false;
  // Another thread may have ended it before this one had the lock.
  if (!has_ended_.load(std::memory_order_relaxed)) test_and_end();
  is_polling = false;
  return has_ended_.load(std::memory_order_relaxed);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
