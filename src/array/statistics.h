// SPDX-License-Identifier: BSD-3-Clause
// statistics.h - counters of this process's reflects, and of the boxes that they have moved.
#pragma once

#include <atomic>
#include <cstdint>

namespace nagaya::array {

// Relaxed: each counter is read by itself, and orders no other data.
struct Statistics {
  std::atomic<uint64_t> reflects, copies, messages, local_messages;

  static Statistics& own() {
    static constinit Statistics statistics{};
    return statistics;
  }
  static void count(std::atomic<uint64_t>& one) { one.fetch_add(1, std::memory_order_relaxed); }
};

}  // namespace nagaya::array
