// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/node_sets.h"

#include <algorithm>
#include <unordered_map>

namespace nagaya::llcl {

NodeSets::NodeSets(std::span<const nagaya_process> processes)
    : node_of_(processes.size()), index_of_(processes.size()), ranks_(processes.size()) {
  const auto size = static_cast<uint32_t>(processes.size());
  std::unordered_map<uint32_t, uint32_t> numbers;
  std::vector<uint32_t> counts;
  for (uint32_t rank = 0; rank < size; ++rank) {
    const auto next = static_cast<uint32_t>(counts.size());
    const uint32_t node = numbers.try_emplace(processes[rank].node, next).first->second;
    if (node == next) counts.push_back(0);
    node_of_[rank] = node;
    index_of_[rank] = counts[node]++;
  }
  begin_of_.push_back(0);
  for (const uint32_t count : counts) begin_of_.push_back(begin_of_.back() + count);
  for (uint32_t rank = 0; rank < size; ++rank)
    ranks_[begin_of_[node_of_[rank]] + index_of_[rank]] = rank;
  are_blocks_ = std::is_sorted(ranks_.begin(), ranks_.end());
}

NodeSets NodeSets::apart(uint32_t size) {
  std::vector<nagaya_process> processes(size);
  for (uint32_t rank = 0; rank < size; ++rank) processes[rank].node = rank;
  return NodeSets(processes);
}

}  // namespace nagaya::llcl
