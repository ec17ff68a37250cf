// SPDX-License-Identifier: BSD-3-Clause
// statistics.h - how the boxes of this process's halos have moved.
#pragma once

#include <atomic>
#include <cstdint>

namespace nagaya::array {

// Relaxed: each is a number by itself.
struct Statistics {
  std::atomic<uint64_t> reflects, copies, messages, local_messages;

  static Statistics& own() {
    static constinit Statistics statistics{};
    return statistics;
  }
  static void count(std::atomic<uint64_t>& one) { one.fetch_add(1, std::memory_order_relaxed); }
};

}  // namespace nagaya::array
