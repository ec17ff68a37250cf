// SPDX-License-Identifier: BSD-3-Clause
// waiting.h - waits in which all of the task's messages and collectives move on.
#pragma once

#include <chrono>

#include "nagaya/llcl.h"

namespace nagaya::blacs {

template <class IsOver>
void wait(IsOver is_over) {
  nagaya_llcl_wait([](void* context) -> int { return (*static_cast<IsOver*>(context))(); },
                   &is_over, -1);
}

// Whether it was over in that time.
template <class IsOver>
bool wait_for(std::chrono::nanoseconds time, IsOver is_over) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  bool was_over = false;
  wait([&] {
    was_over = is_over();
    return was_over || std::chrono::steady_clock::now() >= deadline;
  });
  return was_over;
}

}  // namespace nagaya::blacs
