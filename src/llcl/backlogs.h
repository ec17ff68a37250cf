// SPDX-License-Identifier: BSD-3-Clause
// backlogs.h - which tasks of other nodes do not keep up with the messages that are sent to them:
// their nodes hold more for them than they may. Senders leave bodies with themselves until that is
// over.
//
// One byte a task, in a table that is not large enough for all tasks of all nodes: two may share a
// byte, and the latest news of one then counts for the other. A message goes a way more, or a body
// too many is sent: a node bounds by itself what it holds (board_node.cc).
//
// note: the delegatee's thread. has: any. Relaxed: a hint.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nagaya::llcl {

class Backlogs {
 public:
  void note(uint32_t node, uint32_t task, bool has_one) {
    std::atomic<uint8_t>& entry = entries_[place(node, task)];
    // Nothing is stored, in a line that every sender reads, while nothing changes.
    if (entry.load(std::memory_order_relaxed) != has_one)
      entry.store(has_one, std::memory_order_relaxed);
  }
  bool has(uint32_t node, uint32_t task) const {
    return entries_[place(node, task)].load(std::memory_order_relaxed) != 0;
  }

 private:
  static constexpr size_t kEntries = 4096;

  static size_t place(uint32_t node, uint32_t task) {
    // An odd factor spreads the nodes; neighbouring tasks of one never share.
    return (node * 2654435761u + task) % kEntries;
  }

  std::atomic<uint8_t> entries_[kEntries];
};

}  // namespace nagaya::llcl
