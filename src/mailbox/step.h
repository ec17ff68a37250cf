// SPDX-License-Identifier: BSD-3-Clause
// step.h - the steps of a push and a post. A process stops itself at a chosen one, once, so that a
// test can kill it exactly there.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "arch/arch.h"

namespace nagaya::mailbox {

enum class Step : uint32_t {
  kNone,
  kLaneWritten,    // the cell is filled, nobody can see it
  kLanePublished,  // the consumer would see it, if it knew that this lane is active
  kLaneMarked,     // the lane is active, a sleeping consumer has not been woken
  kBellRung,       // the word has changed, the sleeper has not been woken
  kPostReserved,   // the position is taken, the payload is not complete
  kPostReady,      // the message can be taken, a sleeping reader has not been woken
};

// In the order of Step.
inline constexpr std::string_view kStepNames[] = {
    "none",      "lane.written",  "lane.published", "lane.marked",
    "bell.rung", "post.reserved", "post.ready",
};

// Of this copy of the library.
inline std::atomic<Step> chosen_step{Step::kNone};

// False: no step of this floor has that name.
inline bool choose_step(std::string_view name) {
  for (size_t n = 0; n < std::size(kStepNames); ++n) {
    if (kStepNames[n] != name) continue;
    chosen_step.store(static_cast<Step>(n), std::memory_order_relaxed);
    return true;
  }
  return false;
}

// Relaxed: one thread stops, whichever; nothing else depends on it.
inline void stop_at(Step step) {
  if (chosen_step.load(std::memory_order_relaxed) != step) [[likely]]
    return;
  if (chosen_step.exchange(Step::kNone, std::memory_order_relaxed) != step) return;
  arch::raw_syscall(__NR_kill, arch::raw_syscall(__NR_getpid), SIGSTOP);
}

}  // namespace nagaya::mailbox
