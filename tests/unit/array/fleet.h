// SPDX-License-Identifier: BSD-3-Clause
// fleet.h - the blocks of all processes of an array in one test, and plans executed on them.
#pragma once

#include <functional>
#include <vector>

#include "array/halo_plan.h"
#include "array/shape.h"

namespace nagaya::array {

using Index = std::array<int64_t, kDimensions>;

class Fleet {
 public:
  // All elements are `first`.
  Fleet(const Shape& shape, int32_t first) : shape_(shape) {
    for (uint32_t rank = 0; rank < shape.size(); ++rank)
      memory_.emplace_back(shape.layout_of_rank(rank).bytes / sizeof(int32_t), first);
  }

  int32_t& at(uint32_t rank, const Index& index) {
    const ptrdiff_t offset = shape_.layout_of_rank(rank).offset_of(index, shape_.dimensions());
    return memory_[rank].at(static_cast<size_t>(offset) / sizeof(int32_t));
  }

  // Executes the step with this number of all processes' plans.
  void execute(const std::vector<std::vector<HaloStep>>& plans, size_t step) {
    for (uint32_t rank = 0; rank < shape_.size(); ++rank)
      for (const Transfer& one : plans[rank][step].receives)
        one.box.copy(bytes_of(rank) + one.to, bytes_of(one.rank) + one.from);
  }

  // Calls take(index) for each index whose coordinates lie in the intervals.
  static void for_each(const std::vector<Interval>& intervals,
                       const std::function<void(const Index&)>& take) {
    Index index{};
    visit(intervals, 0, index, take);
  }

  // Returns room_of(d, coordinate of the rank) for all dimensions.
  std::vector<Interval> intervals(uint32_t rank,
                                  Interval (Shape::*room_of)(size_t, uint32_t) const) const {
    std::vector<Interval> all;
    for (size_t d = 0; d < shape_.dimensions(); ++d)
      all.push_back((shape_.*room_of)(d, shape_.coordinate_of_rank(d, rank)));
    return all;
  }

 private:
  static void visit(const std::vector<Interval>& intervals, size_t d, Index& index,
                    const std::function<void(const Index&)>& take) {
    if (d == intervals.size()) return take(index);
    for (index[d] = intervals[d].low; index[d] <= intervals[d].high; ++index[d])
      visit(intervals, d + 1, index, take);
  }
  std::byte* bytes_of(uint32_t rank) { return reinterpret_cast<std::byte*>(memory_[rank].data()); }

  const Shape& shape_;
  std::vector<std::vector<int32_t>> memory_;
};

}  // namespace nagaya::array
