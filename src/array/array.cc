// SPDX-License-Identifier: BSD-3-Clause
#include "array/array.h"

#include <errno.h>

#include <algorithm>

#include "array/reduction_plan.h"
#include "llcl/requests/processes.h"

namespace nagaya::array {
namespace {

bool are_same(const nagaya_array_width& a, const nagaya_array_width& b) {
  return a.low == b.low && a.high == b.high && (a.periodic != 0) == (b.periodic != 0);
}

}  // namespace

Array::Array(const nagaya_array_shape& shape, const nagaya_array_grid& grid, uint64_t name,
             Transport transport)
    : shape_(shape, grid),
      transport_(transport),
      layout_(shape_.layout_of_rank(grid.processes->set->rank())),
      memory_(layout_.bytes, name),
      members_(grid.processes->set, name) {
  block_.base = memory_.begin();
  std::copy_n(layout_.first.begin(), kDimensions, block_.first);
  std::copy_n(layout_.count.begin(), kDimensions, block_.count);
}

int Array::open(llcl::Board& board, task::TaskRecord& self) {
  return members_.open(board, self, static_cast<std::byte*>(block_.base));
}

// ---- halos --------------------------------------------------------------------------------------

bool Array::fits(std::span<const nagaya_array_width> widths) const {
  for (size_t d = 0; d < widths.size(); ++d) {
    const nagaya_array_dimension& of = shape_.dimension(d);
    const bool is_full = shape_.has_full_shadow(d);
    if (widths[d].low < 0 || widths[d].low > (is_full ? of.extent : of.shadow_low) ||
        widths[d].high < 0 || widths[d].high > (is_full ? of.extent : of.shadow_high) ||
        (is_full && widths[d].periodic != 0) ||
        (shape_.is_scattered(d) && (widths[d].low != 0 || widths[d].high != 0)))
      return false;
  }
  return true;
}

bool Array::has_scattered_dimension() const {
  for (size_t d = 0; d < shape_.dimensions(); ++d)
    if (shape_.is_scattered(d)) return true;
  return false;
}

Halo& Array::halo_of(std::span<const nagaya_array_width> widths, bool orthogonal,
                     layout::Combine* combine) {
  for (const CachedHalo& one : halos_)
    if (one.orthogonal == orthogonal && one.combine == combine &&
        std::ranges::equal(one.widths, widths, are_same))
      return *one.halo;
  std::vector<HaloStep> plan;
  if (combine == nullptr)
    plan = plan_halo(shape_, members_.rank(), widths, orthogonal);
  else
    plan.push_back(plan_reduction(shape_, members_.rank(), widths, orthogonal, combine));
  auto halo = std::make_unique<Halo>(members_, transport_, std::move(plan),
                                     static_cast<std::byte*>(block_.base));
  halos_.push_back({{widths.begin(), widths.end()}, orthogonal, combine, std::move(halo)});
  return *halos_.back().halo;
}

int Array::start_reflect(std::span<const nagaya_array_width> widths, bool orthogonal,
                         layout::Combine* combine) {
  if (is_reflecting()) return -EBUSY;
  if (const int untaken = take_result(); untaken < 0) return untaken;
  if (!fits(widths) || (combine != nullptr && has_scattered_dimension())) return -EINVAL;
  Halo& halo = halo_of(widths, orthogonal, combine);
  if (const int error = halo.start(); error != 0) return error;
  pending_halo_ = &halo;
  result_.store(0, std::memory_order_relaxed);
  return 0;
}

bool Array::may_be_destroyed() const {
  return std::ranges::all_of(halos_,
                             [](const CachedHalo& one) { return one.halo->may_be_destroyed(); });
}

int Array::error() const {
  for (const CachedHalo& one : halos_)
    if (const int error = one.halo->error(); error != 0) return error;
  return 0;
}

bool Array::advance() {
  const int result = pending_halo_->advance();
  if (result == 0) return false;
  result_.store(result, std::memory_order_release);  // pairs with is_reflecting, take_result
  return true;
}

int Array::take_result() {
  const int result = result_.load(std::memory_order_acquire);  // pairs with advance
  if (result < 0) result_.store(1, std::memory_order_relaxed);
  return result;
}

// ---- elements -----------------------------------------------------------------------------------

bool Array::has_element(const int64_t* index) const {
  for (size_t d = 0; d < dimensions(); ++d)
    if (index[d] < 0 || index[d] >= shape_.dimension(d).extent) return false;
  return true;
}

bool Array::has(uint32_t rank, const int64_t* index) const {
  for (size_t d = 0; d < dimensions(); ++d)
    if (shape_.coordinate_of(d, index[d]) != shape_.coordinate_of_rank(d, rank)) return false;
  return true;
}

int64_t Array::rank_of_element(const int64_t* index) const {
  // If several processes have copies, the one at the caller's other coordinates is tried first.
  uint32_t beside = members_.rank();
  for (size_t d = 0; d < dimensions(); ++d)
    beside = shape_.rank_beside(beside, d, shape_.coordinate_of(d, index[d]));
  if (members_.is_here(beside)) return beside;
  for (uint32_t rank = 0; rank < members_.size(); ++rank)
    if (members_.is_here(rank) && has(rank, index)) return rank;
  return -1;
}

std::byte* Array::element_at(uint32_t rank, const int64_t* index) const {
  std::byte* const base =
      rank == members_.rank() ? static_cast<std::byte*>(block_.base) : members_.base_of(rank);
  if (base == nullptr) return nullptr;
  std::array<int64_t, kDimensions> at{};
  for (size_t d = 0; d < dimensions(); ++d) at[d] = shape_.position_of(d, index[d]);
  return base + shape_.layout_of_rank(rank).offset_of(at, dimensions());
}

}  // namespace nagaya::array
