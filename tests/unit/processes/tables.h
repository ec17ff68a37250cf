// SPDX-License-Identifier: BSD-3-Clause
// tables.h - tables in memory of malloc, each exactly as long as its plan says: AddressSanitizer
// sees whoever reads beyond.
#pragma once

#include <cstdlib>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "processes/rank_plan.h"

namespace nagaya::processes {

struct FreeTable {
  void operator()(const void* table) const { std::free(const_cast<void*>(table)); }
};
template <class Table>
using Owned = std::unique_ptr<const Table, FreeTable>;

template <class Plan>
Owned<typename Plan::Table> built(const Plan& plan) {
  if (plan.error() != 0) throw std::invalid_argument("no plan");
  void* memory = std::malloc(plan.bytes());
  Owned<typename Plan::Table> table(static_cast<typename Plan::Table*>(memory));
  if (plan.write(*static_cast<typename Plan::Table*>(memory)) != 0)
    throw std::invalid_argument("cannot be written");
  return table;
}

inline Owned<NodeTable> node_table(const std::vector<uint32_t>& tasks, uint32_t block = 0) {
  return built(NodePlan(tasks, block));
}
inline Owned<NodeTable> equal_nodes(uint32_t nodes, uint32_t tasks, uint32_t block = 0) {
  return node_table(std::vector<uint32_t>(nodes, tasks), block);
}

inline Listing listing(const NodeTable& nodes, const std::vector<uint32_t>& positions) {
  return {nodes, std::span(positions)};
}
inline Owned<RankTable> rank_table(const NodeTable& nodes, const std::vector<uint32_t>& positions) {
  return built(RankPlan(listing(nodes, positions)));
}

// The positions first, first + stride, ...
inline std::vector<uint32_t> range(uint32_t first, uint32_t count, uint32_t stride = 1) {
  std::vector<uint32_t> positions(count);
  for (uint32_t n = 0; n < count; ++n) positions[n] = first + n * stride;
  return positions;
}

// The whole job, in the order of the positions.
inline Owned<RankTable> world_table(const NodeTable& nodes) {
  return rank_table(nodes, range(0, nodes.positions));
}

inline std::vector<int64_t> positions_of(const RankTable& table) {
  std::vector<int64_t> positions(table.size);
  for (uint32_t rank = 0; rank < table.size; ++rank) positions[rank] = table.position_of(rank);
  return positions;
}

// The error of the plan, or else of writing the table.
inline int error_of(const RankPlan& plan) {
  if (plan.error() != 0) return plan.error();
  const std::unique_ptr<void, FreeTable> memory(std::malloc(plan.bytes()));
  return plan.write(*static_cast<RankTable*>(memory.get()));
}

}  // namespace nagaya::processes
