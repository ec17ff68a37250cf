// SPDX-License-Identifier: BSD-3-Clause
// waiting.h - waits in which all of the task's messages and collectives move on.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "nagaya/coll.h"
#include "nagaya/llcl.h"

namespace nagaya::blacs {

// The calling thread is in a wait of the BLACS. The wait moves the messages of an MPI that is not
// on Nagaya, too: such an MPI moves them in its own calls alone.
class Waiting {
 public:
  Waiting() { ++own; }
  ~Waiting() { --own; }
  Waiting(const Waiting&) = delete;

  static inline thread_local uint32_t own = 0;  // waits that the calling thread is in
};

template <class IsOver>
void wait(IsOver is_over) {
  const Waiting waiting;
  const auto call = [](void* context) -> int { return (*static_cast<IsOver*>(context))(); };
  nagaya_llcl_wait(call, &is_over, -1);
}

// The collective, with such a wait.
inline int run(nagaya_team& team, nagaya_collective& what) {
  const Waiting waiting;
  return nagaya_coll_run(&team, &what);
}

// How long a sender waits for those that would take its matrix directly, before it makes a copy.
// November 2026: copies of 64 KiB to 16 MiB go at about 8 bytes a nanosecond. Somebody who waits as
// long as the alternative takes pays at most twice.
inline std::chrono::nanoseconds patience_for(size_t bytes) {
  constexpr size_t kCopiedBytesPerNs = 8;
  constexpr std::chrono::nanoseconds kLeast(20'000);  // a processor is handed on in that time
  return std::max(kLeast, std::chrono::nanoseconds(bytes / kCopiedBytesPerNs));
}

// Whether it was over in that time. On a crowded node one yield may take longer: is_over() is asked
// once more before the wait ends.
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
