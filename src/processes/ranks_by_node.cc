// SPDX-License-Identifier: BSD-3-Clause
#include "processes/ranks_by_node.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "processes/rank_plan.h"

namespace nagaya::processes {
namespace {

// Numbers the processes' nodes in the order of their lowest ranks.
class NodeNumbers {
 public:
  uint32_t operator()(uint32_t node) {
    if (node != last_node_ || numbers_.empty()) {
      last_node_ = node;
      last_ = numbers_.try_emplace(node, static_cast<uint32_t>(numbers_.size())).first->second;
    }
    return last_;
  }

 private:
  std::unordered_map<uint32_t, uint32_t> numbers_;
  uint32_t last_node_ = 0, last_ = 0;  // neighbours are usually on one node
};

bool are_equal_but_the_last(const std::vector<uint32_t>& counts) {
  return counts.back() <= counts.front() &&
         std::all_of(counts.begin(), counts.end() - 1,
                     [&](uint32_t count) { return count == counts.front(); });
}

// Whether the node table deals the ranks to these nodes, all of which have equally many.
bool are_dealt(const std::vector<uint32_t>& node_of, const NodeTable& table) {
  Process process{};
  for (uint32_t rank = 0; rank < node_of.size(); ++rank)
    if (table.process_at(rank, process) != 0 || process.node != node_of[rank]) return false;
  return true;
}

}  // namespace

RanksByNode::RanksByNode(TableStore store, std::span<const Process> by_rank)
    : size_(static_cast<uint32_t>(by_rank.size())) {
  std::vector<uint32_t> node_of(size_), counts;
  NodeNumbers number_of;
  for (uint32_t rank = 0; rank < size_; ++rank) {
    node_of[rank] = number_of(by_rank[rank].node);
    if (node_of[rank] == counts.size()) counts.push_back(0);
    ++counts[node_of[rank]];
  }
  nodes_ = static_cast<uint32_t>(counts.size());
  are_blocks_ = std::is_sorted(node_of.begin(), node_of.end());
  const bool are_equal = counts.back() == counts.front() && are_equal_but_the_last(counts);
  if (are_blocks_ ? are_equal_but_the_last(counts) : are_equal) per_node_ = counts.front();
  if (are_blocks_ && per_node_ != 0) return;
  const uint32_t dealt = are_blocks_ ? 0 : dealt_block(by_rank);
  counts_ = {store, NodePlan(counts, dealt)};
  if (are_blocks_ || are_dealt(node_of, *counts_)) return;
  counts_ = {store, NodePlan(counts)};
  std::vector<uint32_t>& next = counts;  // position of each node's next rank
  uint32_t begin = 0;
  for (uint32_t& count : next) begin += std::exchange(count, begin);
  std::vector<uint32_t>& position_of = node_of;
  for (uint32_t& position : position_of) position = next[position]++;
  order_ = {store, RankPlan({*counts_, std::span<const uint32_t>(position_of)})};
}

}  // namespace nagaya::processes
