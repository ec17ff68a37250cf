// SPDX-License-Identifier: BSD-3-Clause
// spin_lock.h - a lock among the threads of ONE task, in shared memory. No libc lock may lie in
// shared memory (law 1). Two tasks never share a SpinLock: a task can die holding it.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace nagaya::task {

class SpinLock {
 public:
  void lock() {
    // Acquire: pairs with the release in unlock().
    while (word_.exchange(1, std::memory_order_acquire) != 0) ::sched_yield();
  }
  bool try_lock() { return word_.exchange(1, std::memory_order_acquire) == 0; }
  void unlock() { word_.store(0, std::memory_order_release); }

 private:
  std::atomic<uint32_t> word_{0};
};

}  // namespace nagaya::task
