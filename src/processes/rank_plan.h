// SPDX-License-Identifier: BSD-3-Clause
// rank_plan.h - from a description to a rank table, in two passes over the description: the first
// finds its runs and the hash of its content, the second fills a packed table. Between the two the
// caller checks whether the node has that table already (TableIndex::intern). Allocates nothing.
#pragma once

#include "processes/description.h"

namespace nagaya::processes {

// A plan for TableIndex::intern(). 14 KiB: lives on the stack. Borrows the lists and tables that
// the description names.
class RankPlan {
 public:
  using Table = RankTable;

  // An order with more runs than this is irregular enough to pay the memory of a packed map
  // (docs/processes.md).
  static constexpr uint32_t kRunsMax = 1024;
  // More interleaved runs than this are packed: a look-up of a position may try each of them.
  static constexpr uint32_t kInterleavedMax = 16;
  // A dense reverse map has fewer slots per rank block than this: at most twice the memory of a
  // hashed one, and half its time.
  static constexpr uint32_t kDenseMax = 3;

  // runs_max   an order with more runs is packed; for measurements
  RankPlan(const NodeTable& nodes, const Description& description, uint32_t runs_max = kRunsMax);

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

  const NodeTable* nodes_;
  Description description_;
  int error_ = 0;
  uint64_t size_ = 0;
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
