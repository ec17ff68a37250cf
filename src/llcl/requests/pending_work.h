// SPDX-License-Identifier: BSD-3-Clause
// pending_work.h - the pending work of one kind that a task has: collectives, reflects, sends of
// areas. The list itself is the library's; its lock, its size and its place among the functions
// that waits call are here.
#pragma once

#include <atomic>
#include <mutex>

#include "llcl/requests/wait.h"
#include "task/space/spin_lock.h"

namespace nagaya::llcl {

// `Library` derives from PendingWork<Library>. It has int advance(), which advances the work once
// and returns how much of it has ended; every wait of the task calls it, in any thread.
template <class Library>
class PendingWork {
 public:
  // Returns the calling task's instance, which the first call makes. Never destroyed: other threads
  // may use it while the process exits. May throw std::bad_alloc.
  static Library& own(Wait& waits) {
    static Library* const own = new Library(waits);
    return *own;
  }

  task::SpinLock lock;  // protects the library's list

 protected:
  explicit PendingWork(Wait& waits) : waits_(waits) {}
  Wait& waits() const { return waits_; }

  // Registers advance() with the task's waits, at the first call only: before that no poll pays for
  // this library. The caller holds the lock. Returns 0, -ENOSPC.
  int register_with_waits() {
    if (is_registered_) return 0;
    const int error = waits_.add(
        {[](void* self) { return static_cast<Library*>(self)->advance(); }, 1,
         [](void* self) { return sleep_beside_polls(static_cast<Library*>(self)->lock); }, nullptr,
         static_cast<Library*>(this)});
    is_registered_ = error == 0;
    return error;
  }

  // Counts the list's entries, with the lock.
  void count_added() { count_.fetch_add(1, std::memory_order_relaxed); }
  void count_removed(size_t ended) {
    count_.fetch_sub(static_cast<uint32_t>(ended), std::memory_order_relaxed);
  }
  // Takes the lock if there is work and no other thread advances it; else the result owns no lock.
  std::unique_lock<task::SpinLock> lock_if_pending() {
    if (count_.load(std::memory_order_relaxed) == 0) return {};
    return {lock, std::try_to_lock};
  }

 private:
  Wait& waits_;
  bool is_registered_ = false;
  std::atomic<uint32_t> count_ = 0;  // of the list's entries, read without the lock
};

}  // namespace nagaya::llcl
