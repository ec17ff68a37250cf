// SPDX-License-Identifier: BSD-3-Clause
#include "array/reduction_plan.h"

#include "array/shadow_pieces.h"

namespace nagaya::array {
namespace {

using Pieces = std::vector<ShadowPiece>;

bool is_block(const ShadowPiece& piece) {
  return piece.reader == piece.owner && piece.to == piece.from;
}

class Planner {
 public:
  Planner(const Shape& shape, uint32_t rank, std::span<const nagaya_array_width> widths,
          bool orthogonal, layout::Combine* combine)
      : shape_(shape), rank_(rank), widths_(widths), orthogonal_(orthogonal), combine_(combine) {}

  HaloStep plan() {
    HaloStep step;
    for_each_box(&Planner::pieces_of_own_shadow, [&](const Pieces& box) {
      const uint32_t owner = rank_at(box, &ShadowPiece::owner);
      if (owner != rank_) step.sends.push_back(transfer(box, rank_, owner, owner));
    });
    for_each_box(&Planner::pieces_of_own_block, [&](const Pieces& box) {
      const uint32_t reader = rank_at(box, &ShadowPiece::reader);
      step.receives.push_back(transfer(box, reader, rank_, reader));
    });
    return step;
  }

 private:
  uint32_t own_coordinate(size_t d) const { return shape_.coordinate_of_rank(d, rank_); }

  // Returns the block of a coordinate in dimension d, and the pieces of its shadow.
  Pieces pieces_at(size_t d, uint32_t reader) const {
    Pieces pieces = shadow_pieces(shape_, d, reader, widths_[d]);
    const Interval owned = shape_.owned(d, reader);
    if (!is_empty(owned))
      pieces.push_back({reader, reader, false, owned.low, owned.low, length_of(owned)});
    return pieces;
  }

  Pieces pieces_of_own_shadow(size_t d) const { return pieces_at(d, own_coordinate(d)); }

  // Returns the pieces at any coordinate whose owner is the caller.
  Pieces pieces_of_own_block(size_t d) const {
    Pieces own;
    for (uint32_t reader = 0; reader < shape_.coordinates(d); ++reader)
      for (const ShadowPiece& piece : pieces_at(d, reader))
        if (piece.owner == own_coordinate(d)) own.push_back(piece);
    return own;
  }

  // Calls take(box) for each choice of one piece a dimension that is part of a shadow.
  void for_each_box(Pieces (Planner::*pieces_of)(size_t) const, auto take) const {
    std::vector<Pieces> choices;
    for (size_t d = 0; d < shape_.dimensions(); ++d) choices.push_back((this->*pieces_of)(d));
    Pieces box;
    choose(choices, box, take);
  }

  void choose(const std::vector<Pieces>& choices, Pieces& box, auto take) const {
    if (box.size() == choices.size()) {
      const auto shadows = static_cast<size_t>(
          std::ranges::count_if(box, [](const ShadowPiece& piece) { return !is_block(piece); }));
      if (orthogonal_ ? shadows == 1 : shadows > 0) take(box);
      return;
    }
    for (const ShadowPiece& piece : choices[box.size()]) {
      box.push_back(piece);
      choose(choices, box, take);
      box.pop_back();
    }
  }

  uint32_t rank_at(const Pieces& box, uint32_t ShadowPiece::*coordinate) const {
    uint32_t rank = rank_;
    for (size_t d = 0; d < box.size(); ++d) rank = shape_.rank_beside(rank, d, box[d].*coordinate);
    return rank;
  }

  // The elements go from the shadow (`to` of a piece) to the block (`from`).
  Transfer transfer(const Pieces& box, uint32_t reader, uint32_t owner, uint32_t other) const {
    const Layout shadow = shape_.layout_of_rank(reader), block = shape_.layout_of_rank(owner);
    std::array<int64_t, kDimensions> in_shadow{}, in_block{};
    std::vector<layout::Side> sides;
    for (size_t d = 0; d < box.size(); ++d) {
      in_shadow[d] = box[d].to;
      in_block[d] = box[d].from;
      sides.push_back({box[d].count, block.stride[d], shadow.stride[d]});
    }
    return {other, kReductionSide, block.offset_of(in_block, box.size()),
            shadow.offset_of(in_shadow, box.size()),
            layout::StridedCopy(shape_.element_bytes(), sides, combine_)};
  }

  const Shape& shape_;
  const uint32_t rank_;
  const std::span<const nagaya_array_width> widths_;
  const bool orthogonal_;
  layout::Combine* const combine_;
};

}  // namespace

HaloStep plan_reduction(const Shape& shape, uint32_t rank,
                        std::span<const nagaya_array_width> widths, bool orthogonal,
                        layout::Combine* combine) {
  return Planner(shape, rank, widths, orthogonal, combine).plan();
}

}  // namespace nagaya::array
