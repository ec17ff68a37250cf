// SPDX-License-Identifier: BSD-3-Clause
// waiting.h - waits that advance all pending messages and collectives of the task.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "nagaya/coll.h"
#include "nagaya/llcl.h"

namespace nagaya::blacs {

// While an object of this class lives, its thread is in a wait of the BLACS. Such a wait also
// advances the messages of an MPI that is not on Nagaya: that MPI does so only in its own calls.
class Waiting {
 public:
  Waiting() { ++depth; }
  ~Waiting() { --depth; }
  Waiting(const Waiting&) = delete;

  static inline thread_local uint32_t depth = 0;  // waits that the calling thread is in
};

template <class IsOver>
void wait(IsOver is_over) {
  const Waiting waiting;
  const auto call = [](void* context) -> int { return (*static_cast<IsOver*>(context))(); };
  nagaya_llcl_wait(call, &is_over, -1);
}

// Runs the collective as a wait of the BLACS. Returns the error of nagaya_coll_run().
inline int run(nagaya_team& team, nagaya_collective& what) {
  const Waiting waiting;
  return nagaya_coll_run(&team, &what);
}

// Returns how long a sender waits for receivers that would read its matrix directly, before it
// makes a copy: as long as the copy takes, so that it pays at most twice. November 2026: copies of
// 64 KiB to 16 MiB run at about 8 bytes a nanosecond.
inline std::chrono::nanoseconds time_before_copy(size_t bytes) {
  constexpr size_t kCopiedBytesPerNs = 8;
  constexpr std::chrono::nanoseconds kLeast(20'000);  // another task gets a processor within it
  return std::max(kLeast, std::chrono::nanoseconds(bytes / kCopiedBytesPerNs));
}

// Waits until is_over() or for `time`. Returns whether it was over. On a crowded node one yield may
// take longer than `time`: is_over() is called once more before the wait ends.
template <class IsOver>
bool wait_for(std::chrono::nanoseconds time, IsOver is_over) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  bool was_over = false, is_late = false;
  wait([&] {
    was_over = is_over();
    if (was_over || is_late) return true;
    is_late = std::chrono::steady_clock::now() >= deadline;
    return false;
  });
  return was_over;
}

}  // namespace nagaya::blacs
