// SPDX-License-Identifier: BSD-3-Clause
#include "processes/description.h"

#include <algorithm>

namespace nagaya::processes {
namespace {

bool lies_within(const Range& range, uint32_t size) {
  const int64_t last = range.first + (int64_t{range.count} - 1) * range.stride;
  return range.first < size && last >= 0 && last < size && (range.stride != 0 || range.count == 1);
}

// Returns how many ranks of the range, from its first on, lie in the parent's run.
uint32_t count_in_run(const Range& range, const Run& run) {
  const uint32_t in_run = range.first - run.first;
  const uint32_t steps = range.stride > 0
                             ? (run.length() - 1 - in_run) / static_cast<uint32_t>(range.stride)
                             : in_run / (0 - static_cast<uint32_t>(range.stride));
  return std::min(range.count, steps + 1);
}

}  // namespace

bool SegmentReader::read(const Ranges& from) {
  parent_ = from.parent;
  if (position_ == from.ranges.size()) return false;
  range_ = from.ranges[position_++];
  return true;
}

bool SegmentReader::read(const Ranks& from) {
  parent_ = from.parent;
  if (position_ == from.ranks.size()) return false;
  range_ = {from.ranks[position_++], 1, 1};
  return true;
}

bool SegmentReader::read(const AllExcept& from) {
  parent_ = from.parent;
  const uint64_t size = parent_size();
  if (next_rank_ > size) return false;
  uint64_t end = size;
  if (position_ < from.removed.size()) {
    end = from.removed[position_++];
    if (end < next_rank_ || end >= size) return fail();
  }
  range_ = {static_cast<uint32_t>(next_rank_), static_cast<uint32_t>(end - next_rank_), 1};
  next_rank_ = end + 1;
  return true;
}

bool SegmentReader::read(const Processes& from) {
  if (position_ == from.processes.size()) return false;
  const int64_t position = nodes_.position_of(from.processes[position_++]);
  if (position < 0) return fail();
  range_ = {static_cast<uint32_t>(position), 1, 1};
  return true;
}

bool SegmentReader::next_range() {
  do {
    if (!std::visit([this](const auto& from) { return read(from); }, description_)) return false;
  } while (range_.count == 0);
  return lies_within(range_, parent_size()) || fail();
}

// Returns the longest beginning of `range_` that is one segment of positions.
Segment SegmentReader::segment_of_range() const {
  if (parent_ == nullptr) return {range_.first, range_.count, range_.stride};
  const int64_t position = parent_->position_of(range_.first);
  if (parent_->run_count == 0 || range_.count == 1) return {position, 1, 1};
  const Run& run = parent_->run_of(range_.first);
  return {position, count_in_run(range_, run), int64_t{run.stride} * range_.stride};
}

bool SegmentReader::next(Segment& out) {
  if (error_ != 0 || (range_.count == 0 && !next_range())) return false;
  out = segment_of_range();
  range_.count -= out.count;
  // Behind the range's last rank `first` may wrap: nobody reads it then.
  range_.first += out.count * static_cast<uint32_t>(range_.stride);
  return true;
}

}  // namespace nagaya::processes
