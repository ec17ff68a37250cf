// SPDX-License-Identifier: BSD-3-Clause
#include "processes/node_table.h"

#include <algorithm>

namespace nagaya::processes {

// Calls visit(area) for each row of nodes with equally many tasks, then for the end.
template <class Visit>
void NodePlan::for_each_area(Visit visit) const {
  uint64_t position = 0;
  for (size_t node = 0; node < tasks_.size();) {
    const uint32_t tasks = tasks_[node];
    size_t end = node;
    while (end < tasks_.size() && tasks_[end] == tasks) ++end;
    visit(Area{static_cast<uint32_t>(position), static_cast<uint32_t>(node), tasks,
               block_ != 0 ? block_ : tasks});
    position += uint64_t{tasks} * (end - node);
    node = end;
  }
  visit(Area{static_cast<uint32_t>(position), static_cast<uint32_t>(tasks_.size()), 0, 0});
}

NodePlan::NodePlan(std::span<const uint32_t> tasks, uint32_t block) : tasks_(tasks) {
  for (const uint32_t count : tasks) positions_ += count;
  if (positions_ == 0 || positions_ >= 1ull << 31 || tasks.size() >= 1ull << 31) {
    error_ = -EINVAL;
    return;
  }
  const bool equal = std::all_of(tasks.begin(), tasks.end(),
                                 [&](uint32_t count) { return count == tasks.front(); });
  if (block != 0 && equal && tasks.front() % block == 0) block_ = block;
  ContentHash hash;
  for_each_area([&](const Area& area) {
    hash.add(uint64_t{area.first_position} << 32 | area.first_node);
    hash.add(uint64_t{area.tasks} << 32 | area.block);
    ++area_count_;
  });
  --area_count_;  // the end
  content_ = hash.value();
}

bool NodePlan::matches(const NodeTable& table) const {
  if (!table.head.matches(NodeTable::kKind, sizeof(NodeTable)) || table.head.content != content_ ||
      table.area_count != area_count_)
    return false;
  bool same = true;
  const Area* other = table.areas();
  for_each_area([&](const Area& area) {
    same &= area.first_position == other->first_position && area.first_node == other->first_node &&
            area.tasks == other->tasks && area.block == other->block;
    ++other;
  });
  return same;
}

int NodePlan::write(NodeTable& table) const {
  table = {.head = {.stamp = {task::kMagic, task::kAbiMajor, task::kAbiMinor, sizeof(NodeTable), 0},
                    .kind = NodeTable::kKind,
                    .slot = kNoSlot,
                    .content = content_,
                    .bytes = bytes()},
           .positions = static_cast<uint32_t>(positions_),
           .nodes = static_cast<uint32_t>(tasks_.size()),
           .area_count = area_count_,
           .reserved = 0};
  auto* out = reinterpret_cast<Area*>(&table + 1);
  for_each_area([&](const Area& area) { *out++ = area; });
  return 0;
}

uint32_t dealt_block(std::span<const Process> processes) {
  uint32_t block = 1;
  while (block < processes.size() && processes[block].node == processes[0].node &&
         processes[block].task == processes[block - 1].task + 1)
    ++block;
  return block;
}

}  // namespace nagaya::processes
