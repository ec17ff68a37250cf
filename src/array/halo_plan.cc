// SPDX-License-Identifier: BSD-3-Clause
#include "array/halo_plan.h"

#include "array/shadow_pieces.h"

namespace nagaya::array {
namespace {

class Planner {
 public:
  Planner(const Shape& shape, uint32_t rank, std::span<const nagaya_array_width> widths,
          bool orthogonal)
      : shape_(shape),
        rank_(rank),
        widths_(widths),
        orthogonal_(orthogonal),
        layout_(shape.layout_of_rank(rank)) {}

  std::vector<HaloStep> plan() {
    std::vector<HaloStep> steps;
    for (size_t d = 0; d < shape_.dimensions(); ++d) {
      if (widths_[d].low == 0 && widths_[d].high == 0) continue;
      if (steps.empty() || !orthogonal_) steps.emplace_back();
      add(d, steps.back());
    }
    return steps;
  }

 private:
  void add(size_t d, HaloStep& step) {
    const uint32_t own = shape_.coordinate_of_rank(d, rank_);
    if (has_only_empty_boxes(d)) return;
    for (const ShadowPiece& piece : pieces_of(d, own))
      step.receives.push_back(transfer(d, piece, piece.owner));
    for (uint32_t reader = 0; reader < shape_.coordinates(d); ++reader) {
      if (reader == own) continue;
      for (const ShadowPiece& piece : pieces_of(d, reader))
        if (piece.owner == own) step.sends.push_back(transfer(d, piece, reader));
    }
  }

  // Whether all boxes along the dimension are empty, because the block is empty in another one. All
  // processes along it have the same part of each other dimension.
  bool has_only_empty_boxes(size_t d) const {
    for (size_t k = 0; k < shape_.dimensions(); ++k)
      if (k != d && is_empty(covered_interval(k, d))) return true;
    return false;
  }

  Interval own_interval(size_t d) const {
    return shape_.owned(d, shape_.coordinate_of_rank(d, rank_));
  }

  std::vector<ShadowPiece> pieces_of(size_t d, uint32_t reader) const {
    return shadow_pieces(shape_, d, reader, widths_[d]);
  }

  // Returns the positions of dimension k that boxes of dimension d's step cover: those of the
  // block; if k < d also the shadow that this exchange has filled; if k has no width all of its
  // shadow, which an earlier exchange may have filled. In a scattered dimension it is all.
  Interval covered_interval(size_t k, size_t d) const {
    if (shape_.is_scattered(k)) return shape_.with_shadow(k, 0);
    const Interval own = own_interval(k);
    if (orthogonal_ || (is_empty(own) && !shape_.has_full_shadow(k))) return own;
    if (widths_[k].low == 0 && widths_[k].high == 0)
      return shape_.with_shadow(k, shape_.coordinate_of_rank(k, rank_));
    if (k > d) return own;
    const Interval all{0, shape_.dimension(k).extent - 1};
    if (is_empty(own)) return all;
    const Interval wide{own.low - widths_[k].low, own.high + widths_[k].high};
    return widths_[k].periodic != 0 ? wide : intersection(wide, all);
  }

  Transfer transfer(size_t d, const ShadowPiece& piece, uint32_t other) const {
    const uint32_t rank = shape_.rank_beside(rank_, d, other);
    const Layout theirs = shape_.layout_of_rank(rank);
    const bool receives = other == piece.owner;
    const Layout& reader = receives ? layout_ : theirs;
    const Layout& owner = receives ? theirs : layout_;
    std::array<int64_t, kDimensions> to{}, from{};
    std::vector<layout::Side> sides;
    for (size_t k = 0; k < shape_.dimensions(); ++k) {
      const Interval interval =
          k == d ? Interval{piece.to, piece.to + piece.count - 1} : covered_interval(k, d);
      to[k] = interval.low;
      from[k] = k == d ? piece.from : interval.low;
      sides.push_back({length_of(interval), reader.stride[k], owner.stride[k]});
    }
    return {rank, static_cast<uint32_t>(2 * d + (piece.is_high ? 1 : 0)),
            reader.offset_of(to, shape_.dimensions()), owner.offset_of(from, shape_.dimensions()),
            layout::StridedCopy(shape_.element_bytes(), sides)};
  }

  const Shape& shape_;
  const uint32_t rank_;
  const std::span<const nagaya_array_width> widths_;
  const bool orthogonal_;
  const Layout layout_;
};

}  // namespace

std::vector<HaloStep> plan_halo(const Shape& shape, uint32_t rank,
                                std::span<const nagaya_array_width> widths, bool orthogonal) {
  return Planner(shape, rank, widths, orthogonal).plan();
}

}  // namespace nagaya::array
