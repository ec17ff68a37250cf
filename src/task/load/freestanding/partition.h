// SPDX-License-Identifier: BSD-3-Clause
// partition.h - accounts for the free addresses of a task's own partition, and places mappings
// there. Freestanding (redirect.h).
#pragma once

#include <ctime>

#include "arch/arch.h"
#include "task/space/space.h"

namespace nagaya::task {

inline bool failed(long result) {
  return result < 0 && result > -4096;
}

inline uint64_t round_up(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

inline constexpr int kPlacementTries = 8;

struct Span {
  uint64_t begin, end;
  bool holds(uint64_t from, uint64_t to) const { return begin <= from && to <= end; }
};

// Locks the free ranges of the calling task, and the other members of its record under that lock. A
// signal handler that interrupted the holder on the same thread must not wait for the lock: then
// held() is false, and the caller passes its system call to the kernel unchanged.
class LockedRanges {
 public:
  explicit LockedRanges(TaskRecord& task) : task_(task), held_(false) {
    const uint64_t self = arch::thread_identity(task.space->can_read_thread_pointer != 0);
    constexpr int kYieldsBetweenChecks = 100;
    for (int n = 1;; ++n) {
      uint64_t holder = 0;
      // Acquire: pairs with the release in the destructor.
      held_ = task_.ranges_holder.compare_exchange_strong(holder, self, std::memory_order_acquire,
                                                          std::memory_order_relaxed);
      if (held_ || holder == self) return;
      arch::raw_syscall(__NR_sched_yield);
      if (n % kYieldsBetweenChecks == 0) wait_longer();
    }
  }
  ~LockedRanges() {
    if (held_) task_.ranges_holder.store(0, std::memory_order_release);
  }
  LockedRanges(const LockedRanges&) = delete;

  bool held() const { return held_; }
  FreeRanges* operator->() const { return &task_.ranges; }

 private:
  void wait_longer() {
    // In a forked child the holder does not exist; the record is the child's own copy.
    if (arch::raw_syscall(__NR_getpid) != task_.pid.load(std::memory_order_relaxed))
      task_.ranges_holder.store(0, std::memory_order_relaxed);
    const timespec pause{0, 50000};
    arch::raw_syscall(__NR_nanosleep, &pause, nullptr);
  }

  TaskRecord& task_;
  bool held_;
};

// Does the task's own partition hold [begin, end)?
bool is_own(const TaskRecord& task, uint64_t begin, uint64_t end);

// Does [begin, end) touch any partition other than the task's own?
bool is_foreign(const TaskRecord& task, uint64_t begin, uint64_t end);

// mark_used: the task has mapped [begin, end) of its own partition. mark_free: it has unmapped
// [begin, end), in its partition or elsewhere.
void mark_used(TaskRecord& task, uint64_t begin, uint64_t end);
void mark_free(TaskRecord& task, uint64_t begin, uint64_t end);

// mark_attached: the task has attached a System V segment at [begin, end) of its own partition.
// mark_detached: it has detached the segment that begins at `begin`.
void mark_attached(TaskRecord& task, uint64_t begin, uint64_t end);
void mark_detached(TaskRecord& task, uint64_t begin);

// Takes `bytes` free addresses of the partition. Returns the first one, 0 when there are not
// enough.
uint64_t take_addresses(TaskRecord& task, uint64_t bytes, uint64_t alignment);

// Calls place(address) with addresses of the partition until the kernel accepts one. Addresses
// that turn out to be occupied (by a system call that was not redirected) stay marked as used.
// Returns a failure when there is no place; the caller then repeats the call as it was made.
template <class Place>
long place_in_partition(TaskRecord& task, uint64_t bytes, uint64_t alignment, Place place) {
  for (int n = 0; n < kPlacementTries; ++n) {
    const uint64_t at = take_addresses(task, bytes, alignment);
    if (at == 0) break;
    const long result = place(at);
    if (!failed(result)) return result;
    if (result != -EEXIST) {
      mark_free(task, at, at + bytes);
      break;
    }
  }
  task.escaped.fetch_add(1, std::memory_order_relaxed);
  return -ENOMEM;
}

}  // namespace nagaya::task
