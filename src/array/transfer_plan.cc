// SPDX-License-Identifier: BSD-3-Clause
#include "array/transfer_plan.h"

#include <algorithm>
#include <iterator>

#include "llcl/requests/processes.h"

namespace nagaya::array {
namespace {

constexpr uint32_t kOne = 1;

// Returns the shape's grid; for a variable that each process has, a grid of one process.
nagaya_array_grid grid_of(const nagaya_array_side& side) {
  return side.grid != nullptr ? *side.grid : nagaya_array_grid{nullptr, 1, &kOne};
}

// Whether the indexes of the section are in the array.
bool is_inside(const Triplet& section, int64_t extent) {
  int64_t span, last;
  return section.count >= 1 && section.first >= 0 && section.first < extent &&
         !__builtin_mul_overflow(section.count - 1, section.step, &span) &&
         !__builtin_add_overflow(section.first, span, &last) && last >= 0 && last < extent;
}

// Whether no two processes have the same elements.
bool has_no_copies(const Shape& shape) {
  uint32_t blocks = 1;
  for (size_t d = 0; d < shape.dimensions(); ++d) blocks *= shape.coordinates(d);
  return blocks == shape.size();
}

// Returns the pieces of a side's dimension, for each coordinate.
std::vector<std::vector<Piece>> pieces_by_coordinate(const Side& side, size_t d) {
  std::vector<std::vector<Piece>> pieces(side.shape().coordinates(d));
  for (const Piece& piece : pieces_of(side.shape(), d, side.section(d)))
    pieces[piece.coordinate].push_back(piece);
  return pieces;
}

uint32_t rank_at(const Shape& shape, const std::vector<uint32_t>& coordinates) {
  uint32_t rank = 0;
  for (size_t d = 0; d < shape.dimensions(); ++d) rank = shape.rank_beside(rank, d, coordinates[d]);
  return rank;
}

}  // namespace

// ---- sides --------------------------------------------------------------------------------------

bool Side::is_valid(const nagaya_array_side& side, const processes::ProcessSet& members) {
  const nagaya_array_grid grid = grid_of(side);
  uint32_t size = 1;
  if (side.grid != nullptr) {
    const processes::ProcessSet& of = *grid.processes->set;
    size = of.size();
    for (uint32_t rank = 0; rank < size; ++rank)
      if (members.rank_of(of.process(rank)) < 0) return false;
  }
  if (!Shape::is_valid(*side.shape, grid, size)) return false;
  for (uint32_t d = 0; d < side.shape->dimensions; ++d)
    if (!is_inside(side.section[d], side.shape->dimension[d].extent)) return false;
  return true;
}

Side::Side(const nagaya_array_side& side, const processes::ProcessSet& members)
    : is_everywhere_(side.grid == nullptr),
      shape_(*side.shape, grid_of(side)),
      section_(side.section, side.section + side.shape->dimensions),
      ranks_(members.size(), is_everywhere_ ? 0 : -1) {
  for (size_t d = 0; d < section_.size(); ++d)
    if (section_[d].count > 1) ranging_.push_back(d);
  if (is_everywhere_) return;
  for (uint32_t rank = 0; rank < shape_.size(); ++rank) {
    members_.push_back(
        static_cast<uint32_t>(members.rank_of(side.grid->processes->set->process(rank))));
    ranks_[members_.back()] = rank;
  }
}

int64_t Side::rank_of_member(uint32_t member) const {
  return ranks_[member];
}

bool Side::has_single_indexes(uint32_t rank) const {
  for (size_t d = 0; d < section_.size(); ++d)
    if (section_[d].count == 1 &&
        shape_.coordinate_of(d, section_[d].first) != shape_.coordinate_of_rank(d, rank))
      return false;
  return true;
}

ptrdiff_t Side::origin(const Layout& layout) const {
  std::array<int64_t, kDimensions> position{};
  for (size_t d = 0; d < section_.size(); ++d)
    if (section_[d].count == 1) position[d] = shape_.position_of(d, section_[d].first);
  return layout.offset_of(position, section_.size());
}

// ---- plans --------------------------------------------------------------------------------------

bool TransferPlan::are_conformable(const Side& to, const Side& from) {
  if (to.shape().element_bytes() != from.shape().element_bytes()) return false;
  if (from.ranging().empty()) return true;
  return std::ranges::equal(to.ranging(), from.ranging(), [&](size_t t, size_t f) {
    return to.section(t).count == from.section(f).count;
  });
}

bool TransferPlan::can_store(const Side& from, std::span<const uint8_t> acts) {
  if (from.is_everywhere()) return std::ranges::any_of(acts, [](uint8_t one) { return one != 0; });
  for (uint32_t rank = 0; rank < from.shape().size(); ++rank)
    if (acts[from.member_of_rank(rank)] == 0) return false;
  return true;
}

TransferPlan::TransferPlan(const Side& to, const Side& from, const processes::ProcessSet& members,
                           std::span<const uint8_t> sources)
    : to_(to), from_(from), members_(members), sources_(sources) {
  for (size_t n = 0; n < to.ranging().size(); ++n) {
    to_pieces_.push_back(pieces_by_coordinate(to, to.ranging()[n]));
    if (!from.ranging().empty())
      from_pieces_.push_back(pieces_by_coordinate(from, from.ranging()[n]));
    else  // one element as the source of many: each of them reads it
      from_pieces_.push_back({{{0, 0, 1, to.section(to.ranging()[n]).count, 0, 0}}});
  }
}

std::vector<Overlap> TransferPlan::overlaps_at(size_t n, uint32_t to_rank,
                                               int64_t from_rank) const {
  const auto& sources = from_pieces_[n];
  const uint32_t target = to_.shape().coordinate_of_rank(to_.ranging()[n], to_rank);
  const auto overlaps_with = [&](uint32_t source) {
    return array::overlaps_of(to_pieces_[n][target], sources[source]);
  };
  if (sources.size() == 1) return overlaps_with(0);
  if (from_rank >= 0)
    return overlaps_with(
        from_.shape().coordinate_of_rank(from_.ranging()[n], static_cast<uint32_t>(from_rank)));
  std::vector<Overlap> all;
  for (uint32_t source = 0; source < sources.size(); ++source)
    std::ranges::copy(overlaps_with(source), std::back_inserter(all));
  return all;
}

uint32_t TransferPlan::source_of_variable(uint32_t reader) const {
  const processes::RanksByNode& nodes = members_.by_node();
  const processes::RankList beside = nodes.ranks_of(nodes.node_of(reader));
  const uint32_t own = nodes.index_of(reader);
  for (uint32_t n = 0; n < beside.size(); ++n)
    if (const uint32_t member = beside[(own + n) % beside.size()]; may_be_source(member))
      return member;
  uint32_t member = reader;
  while (!may_be_source(member)) member = (member + 1) % members_.size();
  return member;
}

uint32_t TransferPlan::source_of(uint32_t reader, const std::vector<uint32_t>& coordinates) const {
  const Shape& shape = from_.shape();
  const auto has = [&](int64_t rank) {
    for (size_t d = 0; d < shape.dimensions(); ++d)
      if (shape.coordinate_of_rank(d, static_cast<uint32_t>(rank)) != coordinates[d]) return false;
    return true;
  };
  if (from_.is_everywhere()) return source_of_variable(reader);
  if (has_no_copies(shape)) return from_.member_of_rank(rank_at(shape, coordinates));
  const int64_t own = from_.rank_of_member(reader);
  if (own >= 0 && has(own)) return reader;
  const processes::RanksByNode& nodes = members_.by_node();
  std::vector<uint32_t> found;
  for (uint32_t rank = 0; rank < shape.size(); ++rank) {
    if (!has(rank)) continue;
    const uint32_t member = from_.member_of_rank(rank);
    if (nodes.node_of(member) == nodes.node_of(reader)) return member;
    found.push_back(member);
  }
  return found[reader % found.size()];
}

TransferBox TransferPlan::box_of(uint32_t reader, const Overlaps& overlaps, uint32_t source) const {
  const auto layout_of = [](const Side& side, uint32_t member) {
    return side.shape().layout_of_rank(static_cast<uint32_t>(side.rank_of_member(member)));
  };
  const Layout to = layout_of(to_, reader), from = layout_of(from_, source);
  ptrdiff_t to_offset = to_.origin(to), from_offset = from_.origin(from);
  std::vector<layout::Side> sides;
  for (size_t n = 0; n < overlaps.size(); ++n) {
    const Overlap& overlap = *overlaps[n];
    const ptrdiff_t to_stride = to.stride[to_.ranging()[n]];
    const ptrdiff_t from_stride = from_.ranging().empty() ? 0 : from.stride[from_.ranging()[n]];
    to_offset += overlap.to * to_stride;
    from_offset += overlap.from * from_stride;
    sides.push_back(
        {overlap.count, overlap.to_stride * to_stride, overlap.from_stride * from_stride});
  }
  return {source, to_offset, from_offset, layout::StridedCopy(to_.shape().element_bytes(), sides)};
}

std::vector<TransferBox> TransferPlan::boxes_of(uint32_t reader,
                                                std::optional<uint32_t> source) const {
  std::vector<TransferBox> boxes;
  const int64_t to_rank = to_.rank_of_member(reader);
  const int64_t wanted = source ? from_.rank_of_member(*source) : -1;
  if (to_rank < 0 || (source && wanted < 0) ||
      !to_.has_single_indexes(static_cast<uint32_t>(to_rank)))
    return boxes;
  const Shape& from = from_.shape();
  std::vector<uint32_t> coordinates(from.dimensions());
  for (size_t d = 0; d < from.dimensions(); ++d)
    coordinates[d] = from.coordinate_of(d, from_.section(d).first);
  std::vector<std::vector<Overlap>> own;  // by ranging dimension
  for (size_t n = 0; n < to_pieces_.size(); ++n) {
    own.push_back(overlaps_at(n, static_cast<uint32_t>(to_rank), wanted));
    if (own.back().empty()) return boxes;
  }
  std::vector<size_t> at(own.size());
  Overlaps chosen(own.size());
  while (true) {  // over the product of the dimensions' overlaps
    for (size_t n = 0; n < own.size(); ++n) {
      chosen[n] = &own[n][at[n]];
      if (!from_.ranging().empty()) coordinates[from_.ranging()[n]] = chosen[n]->from_coordinate;
    }
    const uint32_t found = source_of(reader, coordinates);
    if (!source || found == *source) boxes.push_back(box_of(reader, chosen, found));
    size_t n = own.size();
    while (n != 0 && ++at[n - 1] == own[n - 1].size()) at[--n] = 0;
    if (n == 0) return boxes;
  }
}

}  // namespace nagaya::array
