// SPDX-License-Identifier: BSD-3-Clause
// rank_plan.h - from a list of processes to a rank table, in two passes over the list: the first
// finds its runs and the hash of its content, the second fills a packed table. Between the two the
// caller checks whether the node has that table already (TableIndex::intern). Allocates nothing.
#pragma once

#include <span>

#include "processes/rank_table.h"

namespace nagaya::processes {

// A list of processes by rank: as positions of a node table, or as processes. Borrows both.
class Listing {
 public:
  Listing(const NodeTable& nodes, std::span<const uint32_t> positions)
      : nodes_(&nodes), positions_(positions) {}
  Listing(const NodeTable& nodes, std::span<const Process> processes)
      : nodes_(&nodes), processes_(processes) {}

  uint64_t size() const { return positions_.size() + processes_.size(); }
  // Returns the position of a rank, -EINVAL: the node table does not have it.
  int64_t position_of(uint64_t rank) const {
    if (!processes_.empty()) return nodes_->position_of(processes_[rank]);
    return positions_[rank] < nodes_->positions ? int64_t{positions_[rank]} : -EINVAL;
  }

 private:
  const NodeTable* nodes_;
  std::span<const uint32_t> positions_;
  std::span<const Process> processes_;
};

// A plan for TableIndex::intern(). 14 KiB: lives on the stack. Borrows what the listing borrows.
class RankPlan {
 public:
  using Table = RankTable;

  // An order with more runs than this is irregular enough to pay the memory of a packed map
  // (docs/processes.md).
  static constexpr uint32_t kRunsMax = 1024;
  // More interleaved runs than this are packed: a look-up of a position may try each of them, 5 ns
  // a run. Ranks that are dealt to nodes one by one have a run for each task of a node.
  static constexpr uint32_t kInterleavedMax = 256;
  // A dense reverse map has fewer slots per rank block than this: at most twice the memory of a
  // hashed one, and half its time.
  static constexpr uint32_t kDenseMax = 3;

  // runs_max   an order with more runs is packed; for measurements
  explicit RankPlan(const Listing& listing, uint32_t runs_max = kRunsMax);

  // -EINVAL: a rank or process that does not exist, or twice; no rank at all; 2^31 ranks and more.
  // (Only write() detects that a rank of an irregular map comes twice.)
  int error() const { return error_; }
  uint64_t content() const { return content_; }
  uint64_t bytes() const;
  bool matches(const RankTable& table) const;
  int write(RankTable& table) const;

 private:
  void read(uint32_t runs_max);
  void note(const Run& run, uint32_t length, uint32_t runs_max);
  void sort_runs();
  bool a_position_comes_twice() const;
  void plan_packing();
  int write_packed(RankTable& table) const;

  Listing listing_;
  int error_ = 0;
  uint64_t content_ = 0;
  uint32_t run_count_ = 0;
  bool packed_ = false;
  int64_t lowest_ = INT64_MAX, highest_ = 0;  // positions
  uint32_t boundaries_ = 0;                   // all run boundaries, or-ed: common low zero bits
  RankTable packing_{};                       // packed: all but the head
  Run runs_[kRunsMax + 1];
  uint16_t by_position_[kRunsMax];
  bool interleaved_ = false;
};

}  // namespace nagaya::processes
