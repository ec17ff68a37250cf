// SPDX-License-Identifier: BSD-3-Clause
// description.h - the ranks of a communicator, described as briefly as the caller can: nothing
// is copied, nobody writes out 2^20 ranks that a range describes.
//
//   the whole job, by position   Ranges{nullptr, {{0, positions, 1}}}
//   every second rank         Ranges{world, {{0, (size + 1) / 2, 2}}}
//   as MPI_Group_incl         Ranks{parent, ranks}
//   MPI_Group_range_incl      Ranges{parent, ranges}
//   MPI_Group_excl            AllExcept{parent, removed}
//   what a launcher reports   Processes{processes}
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "processes/rank_table.h"

namespace nagaya::processes {

// Ranks first, first + stride, ...
struct Range {
  uint32_t first;
  uint32_t count;
  int32_t stride;
};

// `parent`: the table whose ranks are listed; nullptr: positions are listed. The new ranks have the
// order of the list.
struct Ranges {
  const RankTable* parent;
  std::span<const Range> ranges;
};
struct Ranks {
  const RankTable* parent;
  std::span<const uint32_t> ranks;
};
// All ranks of the parent except `removed`, which ascend.
struct AllExcept {
  const RankTable* parent;
  std::span<const uint32_t> removed;
};
struct Processes {
  std::span<const Process> processes;
};

using Description = std::variant<Ranges, Ranks, AllExcept, Processes>;

// `count` positions from `position` on, `stride` apart.
struct Segment {
  int64_t position;
  uint32_t count;  // not 0
  int64_t stride;  // means nothing when count is 1
};

// Reads the segments of a description in a loop, in the order of the ranks. Borrows its arguments.
class SegmentReader {
 public:
  SegmentReader(const NodeTable& nodes, const Description& description)
      : nodes_(nodes), description_(description) {}

  // Returns false at the end, or if error() is set.
  bool next(Segment& out);
  // -EINVAL: a rank or process that does not exist, a list that does not ascend.
  int error() const { return error_; }

 private:
  // Each read() puts the next range of ranks of `parent_` into `range_`, perhaps an empty one.
  // Returns false if there is none, or if error() is set.
  bool read(const Ranges& from);
  bool read(const Ranks& from);
  bool read(const AllExcept& from);
  bool read(const Processes& from);

  uint32_t parent_size() const { return parent_ != nullptr ? parent_->size : nodes_.positions; }
  bool next_range();
  Segment segment_of_range() const;
  bool fail() {
    error_ = -EINVAL;
    return false;
  }

  const NodeTable& nodes_;
  const Description& description_;
  const RankTable* parent_ = nullptr;
  Range range_{};           // the rest of the range being read
  size_t position_ = 0;     // in the description's list
  uint64_t next_rank_ = 0;  // AllExcept: the first rank not yet looked at
  int error_ = 0;
};

}  // namespace nagaya::processes
