// SPDX-License-Identifier: BSD-3-Clause
// backlogs.h - a flag for each task of another node that does not keep up with the messages that
// are sent to it: its node holds more of them than it may. While the flag is set, senders keep
// bodies in their own memory (rendezvous).
//
// A task has one byte, in a table that is not large enough for all tasks of all nodes: two may
// share a byte, and the latest news of one then counts for the other. A wrong flag costs a
// rendezvous that was not needed, or one body too many: a node bounds by itself the bytes it holds
// (board_node.cc).
//
// Threads: only the delegatee's calls note(), any calls has(). Relaxed: a hint.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nagaya::llcl {

class Backlogs {
 public:
  void note(uint32_t node, uint32_t task, bool has_one) {
    std::atomic<uint8_t>& entry = entries_[place(node, task)];
    // Stores only a change: every sender reads this line.
    if (entry.load(std::memory_order_relaxed) != has_one)
      entry.store(has_one, std::memory_order_relaxed);
  }
  bool has(uint32_t node, uint32_t task) const {
    return entries_[place(node, task)].load(std::memory_order_relaxed) != 0;
  }

 private:
  static constexpr size_t kEntries = 4096;

  static size_t place(uint32_t node, uint32_t task) {
    // An odd factor spreads the nodes; neighbouring tasks of one node never share a byte.
    return (node * 2654435761u + task) % kEntries;
  }

  std::atomic<uint8_t> entries_[kEntries];
};

}  // namespace nagaya::llcl
