// SPDX-License-Identifier: BSD-3-Clause
// owner.h - the holder of a part of a shared structure: the host, or a task. The generation tells a
// task from the earlier tasks of its number. One word, so that a compare-and-swap can claim and
// release.
#pragma once

#include <cstdint>

namespace nagaya::mailbox {

struct Owner {
  uint32_t bits = 0;  // generation << 16 | number + 1; 0: nobody

  // The arguments are the TaskRecord's `number` and `generation`. A generation comes again after
  // 65,536 tasks, long after the host has reclaimed what the earlier one held.
  static constexpr Owner task(uint32_t number, uint32_t generation) {
    return {generation << 16 | (number + 1)};
  }
  static constexpr Owner host() { return {0xffff}; }

  constexpr uint32_t number() const { return (bits & 0xffff) - 1; }

  constexpr bool operator==(const Owner&) const = default;
};

}  // namespace nagaya::mailbox
