// SPDX-License-Identifier: BSD-3-Clause
// clear_space.h - a space that a test may close tasks in, under the thread sanitizer, too.
#pragma once

#include "task/space/space_memory.h"

namespace nagaya::task {

// A space of at most 64 tasks. Its partitions lie where the thread sanitizer has nothing: the
// sanitizer's shadow lies among the addresses of tasks, and to unmap a partition there tears a hole
// into it.
class ClearSpace : public SpaceMemory {
 public:
  explicit ClearSpace(const SpaceSettings& settings) : SpaceMemory(settings) {
    header().home_base = kClearBegin;
    header().range_base = kClearBegin + header().capacity * kHomeBytes;
  }

 private:
  static constexpr uint64_t kClearBegin = 0x400000000000;  // to kSpaceEnd
};

}  // namespace nagaya::task
