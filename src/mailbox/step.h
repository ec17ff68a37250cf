// SPDX-License-Identifier: BSD-3-Clause
// step.h - the steps of a push and a post. A process stops itself at a chosen one, once, so that a
// test can kill it exactly there. NAGAYA_STOP_AT chooses for every task that has it in its
// environment (the steps of task/freestanding/stop_point.h: for the first that comes by).
#pragma once

#include <signal.h>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
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

struct StepChoice {
  std::atomic<Step> step{Step::kNone};
  std::atomic<uint32_t> passages{1};  // the process stops when it comes by for the last of them

  // "lane.marked", or "lane.marked:500" for the 500th passage. False: no step of this floor.
  bool choose(std::string_view text) {
    const size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    uint32_t count = 1;
    if (colon != text.npos) std::from_chars(text.data() + colon + 1, text.end(), count);
    for (size_t n = 0; n < std::size(kStepNames); ++n) {
      if (kStepNames[n] != name) continue;
      passages.store(count, std::memory_order_relaxed);
      step.store(static_cast<Step>(n), std::memory_order_relaxed);
      return true;
    }
    return false;
  }

  // From the variable NAGAYA_STOP_AT; the steps of other floors are read there. The host has no
  // environment.
  explicit StepChoice(const char* variable) {
    if (variable != nullptr) choose(variable);
  }
};

// Of this copy of the library.
inline StepChoice chosen_step{std::getenv("NAGAYA_STOP_AT")};

inline bool choose_step(std::string_view text) {
  return chosen_step.choose(text);
}

// Relaxed: one thread stops, whichever; nothing else depends on it.
inline void stop_at(Step step) {
  if (chosen_step.step.load(std::memory_order_relaxed) != step) [[likely]]
    return;
  if (chosen_step.passages.fetch_sub(1, std::memory_order_relaxed) != 1) return;
  arch::raw_syscall(__NR_kill, arch::raw_syscall(__NR_getpid), SIGSTOP);
}

}  // namespace nagaya::mailbox
