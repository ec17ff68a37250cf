// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "task/space_memory.h"

namespace nagaya::task {

// A space of at most 64 tasks whose partitions lie where the thread sanitizer has nothing. It has
// its shadow among the addresses of tasks: a partition that is unmapped there tears a hole into it.
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
