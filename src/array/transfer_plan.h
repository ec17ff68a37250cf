// SPDX-License-Identifier: BSD-3-Clause
// transfer_plan.h - the boxes that an assignment between two array sections moves: which process
// reads which part of whose block. Every process computes the same boxes for a reader and a source,
// in the same order.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "array/section_pieces.h"
#include "array/shape.h"
#include "layout/strided.h"
#include "processes/process_set.h"

namespace nagaya::array {

// A section and its array.
class Side {
 public:
  // Throws std::bad_alloc. Ranks of a Side are those of its grid; -1: the process is not on it.
  Side(const nagaya_array_side& side, const processes::ProcessSet& members);

  // Whether the section lies in its array, and all processes of the array are members.
  static bool is_valid(const nagaya_array_side& side, const processes::ProcessSet& members);

  const Shape& shape() const { return shape_; }
  const Triplet& section(size_t d) const { return section_[d]; }
  // The dimensions with several elements.
  const std::vector<size_t>& ranging() const { return ranging_; }
  // Whether each member has a variable of its own.
  bool is_everywhere() const { return is_everywhere_; }
  int64_t rank_of_member(uint32_t member) const;
  uint32_t member_of_rank(uint32_t rank) const { return members_[rank]; }
  // Whether the process of this rank has the single indexes of the section.
  bool has_single_indexes(uint32_t rank) const;
  // Returns the offset, from the beginning of the rank's block, of the element that has the
  // section's first index in single dimensions and position 0 in the others.        [bytes]
  ptrdiff_t origin(const Layout& layout) const;

 private:
  const bool is_everywhere_;
  const Shape shape_;
  std::vector<Triplet> section_;
  std::vector<size_t> ranging_;
  std::vector<uint32_t> members_;  // by rank
  std::vector<int64_t> ranks_;     // by member
};

// A box that one process reads from the block of another.
struct TransferBox {
  uint32_t source;     // a member
  ptrdiff_t to, from;  // its first element, from the beginnings of the blocks         [bytes]
  layout::StridedCopy box;
};

class TransferPlan {
 public:
  // Both sides have the same counts in their ranging dimensions, or `from` has none of these.
  // `sources`: for each member nonzero if it may be a source, so that can_store(from, sources);
  // empty: all may. May throw std::bad_alloc, as boxes_of() may.
  TransferPlan(const Side& to, const Side& from, const processes::ProcessSet& members,
               std::span<const uint8_t> sources = {});

  static bool are_conformable(const Side& to, const Side& from);
  // Whether the members that act have all elements of the source: all processes of its array, or
  // one of those that have a variable each.
  static bool can_store(const Side& from, std::span<const uint8_t> acts);

  // Returns the boxes that `reader` reads; from `source` only, if it is given.
  std::vector<TransferBox> boxes_of(uint32_t reader, std::optional<uint32_t> source = {}) const;

 private:
  using Overlaps = std::vector<const Overlap*>;

  bool may_be_source(uint32_t member) const { return sources_.empty() || sources_[member] != 0; }

  // Returns the member whose variable a reader reads: the next one that may be a source on the
  // reader's node, if there is one, else the next of all. One may be.
  uint32_t source_of_variable(uint32_t reader) const;
  // Returns a process that has the elements at these coordinates of the source, for the reader.
  uint32_t source_of(uint32_t reader, const std::vector<uint32_t>& coordinates) const;
  // Returns the overlaps in the n-th ranging dimension between the pieces of a rank of `to` and
  // those of a rank of `from`; -1: of all of these.
  std::vector<Overlap> overlaps_at(size_t n, uint32_t to_rank, int64_t from_rank) const;
  TransferBox box_of(uint32_t reader, const Overlaps& overlaps, uint32_t source) const;

  const Side& to_;
  const Side& from_;
  const processes::ProcessSet& members_;
  const std::span<const uint8_t> sources_;
  // The pieces of both sides, for each ranging dimension of `to` and each coordinate.
  std::vector<std::vector<std::vector<Piece>>> to_pieces_, from_pieces_;
};

}  // namespace nagaya::array
