// SPDX-License-Identifier: BSD-3-Clause
// node_table.h - level 2 of the two tables from a rank to (node, task) (docs/processes.md): how the
// processes of a job lie on its nodes. One per job and node.
//
// The table orders all processes; a process's number in this order is its position. Level 1
// (rank_table.h) maps the ranks of a communicator to positions, this table maps positions to (node,
// task) and back.
//
//   | NodeTable: positions, nodes | area 0 | area 1 | ... | end: {positions, nodes} |
//
//   An area is a row of nodes with equally many tasks. Within it, positions are dealt to the nodes
//   in blocks, as the launcher dealt the ranks:
//
//   block = tasks (block scheme)       block = 1 (round robin)        block = 2 of 4 tasks
//   node 0: 0 1 2 3                    node 0: 0 2 4 6                node 0: 0 1 4 5
//   node 1: 4 5 6 7                    node 1: 1 3 5 7                node 1: 2 3 6 7
//
// Where task numbers have holes, positions have them too: tasks = the highest number + 1.
// After: the node table of Yoshinaga and others 2012 (counts, scheme: block or round robin).
#pragma once

#include <cerrno>
#include <cstdint>
#include <span>

#include "nagaya/llcl.h"
#include "processes/search.h"
#include "processes/shared_table.h"

namespace nagaya::processes {

using Process = ::nagaya_process;  // {node, task}

struct Area {
  uint32_t first_position;
  uint32_t first_node;
  uint32_t tasks;  // per node
  uint32_t block;  // divides `tasks`
};

struct NodeTable {
  static constexpr auto kKind = SharedTable::Kind::kNodes;

  SharedTable head;
  uint32_t positions;  // below 2^31
  uint32_t nodes;
  uint32_t area_count;
  uint32_t reserved;

  const Area* areas() const { return reinterpret_cast<const Area*>(this + 1); }

  // Returns 0, or -EINVAL: no such position.
  int process_at(int64_t position, Process& out) const {
    if (static_cast<uint64_t>(position) >= positions) return -EINVAL;
    const auto known = static_cast<uint32_t>(position);
    // If several areas begin at one position, the last: the others have no tasks.
    const Area& area = areas()[last_at_or_below(
        area_count, known, [this](uint32_t n) { return areas()[n].first_position; })];
    const uint32_t in_area = known - area.first_position;
    const uint32_t group = in_area / area.block, in_block = in_area % area.block;
    if (area.block == area.tasks) {
      out = {area.first_node + group, in_block};
      return 0;
    }
    const uint32_t width = (&area)[1].first_node - area.first_node;
    out = {area.first_node + group % width, group / width * area.block + in_block};
    return 0;
  }

  // `node` is below `nodes`.
  uint32_t tasks_of(uint32_t node) const { return area_of_node(node).tasks; }

  // Returns the position, or -EINVAL: the job has no such node, or the node no such task.
  int64_t position_of(Process process) const {
    if (process.node >= nodes) return -EINVAL;
    const Area& area = area_of_node(process.node);
    if (process.task >= area.tasks) return -EINVAL;
    const uint32_t in_area = process.node - area.first_node;
    if (area.block == area.tasks)
      return int64_t{area.first_position} + in_area * area.tasks + process.task;
    const uint32_t width = (&area)[1].first_node - area.first_node;
    const uint32_t group = process.task / area.block * width + in_area;
    return int64_t{area.first_position} + group * area.block + process.task % area.block;
  }

 private:
  const Area& area_of_node(uint32_t node) const {
    return areas()[last_at_or_below(area_count, node,
                                    [this](uint32_t n) { return areas()[n].first_node; })];
  }
};

// The content of a node table that is not written yet: a plan for TableIndex::intern(). Borrows
// `tasks`.
class NodePlan {
 public:
  using Table = NodeTable;

  // tasks   their number, for each node
  // block   positions dealt to a node at a time; 0: all of its own. Positions go node by node if
  //         nodes differ in their number of tasks, or if `block` does not divide that number.
  explicit NodePlan(std::span<const uint32_t> tasks, uint32_t block = 0);

  int error() const { return error_; }  // -EINVAL: no process, or 2^31 and more
  uint64_t content() const { return content_; }
  uint64_t bytes() const { return sizeof(NodeTable) + (area_count_ + 1) * sizeof(Area); }
  bool matches(const NodeTable& table) const;
  int write(NodeTable& table) const;

 private:
  template <class Visit>
  void for_each_area(Visit visit) const;

  std::span<const uint32_t> tasks_;
  uint32_t block_ = 0;
  uint32_t area_count_ = 0;
  uint64_t positions_ = 0;
  uint64_t content_ = 0;
  int error_ = 0;
};

// Guesses the block in which `processes` (in the order of their ranks) are dealt to the nodes: the
// length of the first node's first block. For NodePlan; a wrong guess costs memory, nothing else.
uint32_t dealt_block(std::span<const Process> processes);

}  // namespace nagaya::processes
