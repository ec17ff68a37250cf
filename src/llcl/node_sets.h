// SPDX-License-Identifier: BSD-3-Clause
// node_sets.h - which of an ordered set of processes share a node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nagaya/llcl.h"

namespace nagaya::llcl {

// Nodes are numbered in the order of their lowest ranks. Does not change: any thread.
class NodeSets {
 public:
  // `processes` by rank. May throw std::bad_alloc.
  explicit NodeSets(std::span<const nagaya_process> processes);
  // As if each of `size` processes had a node of its own. May throw std::bad_alloc.
  static NodeSets apart(uint32_t size);

  uint32_t size() const { return static_cast<uint32_t>(node_of_.size()); }
  uint32_t nodes() const { return static_cast<uint32_t>(begin_of_.size() - 1); }
  uint32_t node_of(uint32_t rank) const { return node_of_[rank]; }
  // Ascending.
  std::span<const uint32_t> ranks_of(uint32_t node) const {
    return {ranks_.data() + begin_of_[node], begin_of_[node + 1] - begin_of_[node]};
  }
  // All ranks, node by node; where a node's begin.
  std::span<const uint32_t> ranks() const { return ranks_; }
  uint32_t begin_of(uint32_t node) const { return begin_of_[node]; }
  // Among the ranks of its node.
  uint32_t index_of(uint32_t rank) const { return index_of_[rank]; }
  // Each node's ranks follow each other: node by node is rank by rank.
  bool are_blocks() const { return are_blocks_; }

 private:
  std::vector<uint32_t> node_of_, index_of_;  // by rank
  std::vector<uint32_t> ranks_, begin_of_;    // begin_of_: by node, and the end
  bool are_blocks_;
};

}  // namespace nagaya::llcl
