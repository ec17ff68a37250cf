// SPDX-License-Identifier: BSD-3-Clause
// machine.h - the base of this floor: atomics, fence, futex, clock. Every structure of the floor
// is a template on it, so that a test can put a machine below that runs one operation at a time.
#pragma once

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <time.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "arch/arch.h"
#include "task/host/stop_choice.h"

namespace nagaya::mailbox {

using task::StopPoint;

inline constexpr size_t kLineBytes = 64;
constexpr size_t whole_lines(size_t bytes) {
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}
inline constexpr uint64_t kNever = UINT64_MAX;  // a deadline [ns of CLOCK_MONOTONIC]

struct Machine {
  template <class T>
  using Atomic = std::atomic<T>;

  static void fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
  // A pair that replaces two fences, where one side runs often and the other seldom: the light one
  // costs nothing, the heavy one is a fence in every thread of the space (membarrier(2); the tasks
  // share one mm). The host calls has_heavy_fence() once per space; false: both sides use fence().
  static void light_fence() { std::atomic_signal_fence(std::memory_order_seq_cst); }
  static void heavy_fence() {
    fence();
    arch::raw_syscall(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  }
  static bool has_heavy_fence() {
    return arch::raw_syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  }
  static void relax() { arch::relax(); }
  static void prefetch(const void* line) { arch::prefetch(line); }
  static void prefetch_to_write(const void* line) { arch::prefetch_to_write(line); }
  static void yield() { arch::raw_syscall(__NR_sched_yield); }
  static void step(StopPoint step) { task::stop_at(step); }

  static uint64_t now_ns() {
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  }

  // Sleeps while `word` holds `expected`, at most until `deadline_ns`. May return early. The tasks
  // of a space share one mm, so PRIVATE futexes work across them.
  static void futex_wait(const Atomic<uint32_t>& word, uint32_t expected, uint64_t deadline_ns) {
    const timespec deadline = {static_cast<time_t>(deadline_ns / 1'000'000'000),
                               static_cast<long>(deadline_ns % 1'000'000'000)};
    // WAIT_BITSET: the only one whose timeout is absolute.
    arch::raw_syscall(__NR_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected,
                      deadline_ns == kNever ? nullptr : &deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
  }
  static void futex_wake(const Atomic<uint32_t>& word) {
    arch::raw_syscall(__NR_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }
};

}  // namespace nagaya::mailbox
