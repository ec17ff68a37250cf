// SPDX-License-Identifier: BSD-3-Clause
// rank_plan.h - from a description to a rank table, in two passes over the description: the first
// finds its runs and the hash of its content, the second fills a packed table. Between the two the
// caller looks whether the node has that table already (TableIndex::intern). Allocates nothing.
#pragma once

#include "processes/description.h"

namespace nagaya::processes {

// A plan as TableIndex::intern() wants it. 14 KiB: lives on the stack. Borrows what the
// description names.
class RankPlan {
 public:
  using Table = RankTable;

  // Beyond, an order is irregular enough to pay the memory of a packed map (docs/processes.md).
  static constexpr uint32_t kRunsMax = 1024;
  // A position may have to be sought in as many runs when they are interleaved.
  static constexpr uint32_t kInterleavedMax = 16;
  // A dense reverse map has fewer slots per rank block than this: at most twice the memory of a
  // hashed one, and half its time.
  static constexpr uint32_t kDenseMax = 3;

  // runs_max   more runs than that are packed; for measurements
  RankPlan(const NodeTable& nodes, const Description& description, uint32_t runs_max = kRunsMax);

  // -EINVAL: a rank or process that does not exist, or twice; nobody at all; 2^31 ranks and more.
  // (That a rank of an irregular map comes twice is known only to write().)
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
  uint32_t boundaries_ = 0;                   // their low zero bits are those of every boundary
  RankTable packing_{};                       // packed: all but the head
  Run runs_[kRunsMax + 1];
  uint16_t by_position_[kRunsMax];
  bool interleaved_ = false;
};

}  // namespace nagaya::processes
