// SPDX-License-Identifier: BSD-3-Clause
// node_sets.h - an ordered set of processes, divided by their nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nagaya/llcl.h"

namespace nagaya::llcl {

// Nodes are numbered in the order of their lowest ranks. Immutable: any thread may call.
class NodeSets {
 public:
  // `processes`: by rank. May throw std::bad_alloc.
  explicit NodeSets(std::span<const nagaya_process> processes);
  // Returns the sets of `size` processes, each on a node of its own. May throw std::bad_alloc.
  static NodeSets apart(uint32_t size);

  uint32_t size() const { return static_cast<uint32_t>(node_of_.size()); }
  uint32_t nodes() const { return static_cast<uint32_t>(begin_of_.size() - 1); }
  uint32_t node_of(uint32_t rank) const { return node_of_[rank]; }
  // The ranks of a node, ascending.
  std::span<const uint32_t> ranks_of(uint32_t node) const {
    return {ranks_.data() + begin_of_[node], begin_of_[node + 1] - begin_of_[node]};
  }
  // All ranks, node by node. begin_of(): index in ranks() of the node's first rank.
  std::span<const uint32_t> ranks() const { return ranks_; }
  uint32_t begin_of(uint32_t node) const { return begin_of_[node]; }
  // Index of the rank among the ranks of its node.
  uint32_t index_of(uint32_t rank) const { return index_of_[rank]; }
  // Whether the ranks of each node are consecutive: then ranks() is 0, 1, 2, ...
  bool are_blocks() const { return are_blocks_; }

 private:
  std::vector<uint32_t> node_of_, index_of_;  // by rank
  std::vector<uint32_t> ranks_, begin_of_;    // begin_of_: by node, and the end
  bool are_blocks_;
};

}  // namespace nagaya::llcl
