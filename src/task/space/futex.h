// SPDX-License-Identifier: BSD-3-Clause
// futex.h - lets a thread sleep on a word of the space, and wakes it. The tasks of a space share
// one mm, so PRIVATE futexes work across them.
#pragma once

#include <linux/futex.h>
#include <time.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "arch/arch.h"

namespace nagaya::task {

// Sleeps while `word` holds `expected`; `timeout` is relative, nullptr for ever. Returns 0 or
// -errno (-EAGAIN, -EINTR, -ETIMEDOUT).
inline long futex_wait(const std::atomic<uint32_t>& word, uint32_t expected,
                       const timespec* timeout) {
  return arch::raw_syscall(__NR_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout, nullptr, 0);
}

inline void futex_wake_all(const std::atomic<uint32_t>& word) {
  arch::raw_syscall(__NR_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace nagaya::task
