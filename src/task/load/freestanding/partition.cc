// SPDX-License-Identifier: BSD-3-Clause
#include "task/load/freestanding/partition.h"

namespace nagaya::task {
namespace {

Span home_of(const TaskRecord& task) {
  return {task.home, task.home + kHomeBytes};
}
Span range_of(const TaskRecord& task) {
  return {task.range, task.range + task.range_bytes};
}

}  // namespace

bool is_own(const TaskRecord& task, uint64_t begin, uint64_t end) {
  return home_of(task).holds(begin, end) || range_of(task).holds(begin, end);
}

bool is_foreign(const TaskRecord& task, uint64_t begin, uint64_t end) {
  if (end <= begin) return false;
  const SpaceHeader& space = *task.space;
  const auto touches = [&](uint64_t base, uint64_t bytes) {
    return begin < base + space.capacity * bytes && end > base;
  };
  return (touches(space.home_base, kHomeBytes) || touches(space.range_base, space.range_bytes)) &&
         !is_own(task, begin, end);
}

void mark_used(TaskRecord& task, uint64_t begin, uint64_t end) {
  LockedRanges ranges(task);
  if (ranges.held()) ranges->take_exactly(begin, end);
}

void mark_free(TaskRecord& task, uint64_t begin, uint64_t end) {
  if (!is_own(task, begin, end)) return;
  LockedRanges ranges(task);
  if (ranges.held()) ranges->give(begin, end);
}

void mark_attached(TaskRecord& task, uint64_t begin, uint64_t end) {
  LockedRanges ranges(task);
  if (!ranges.held()) return;
  ranges->take_exactly(begin, end);
  AttachedSegment* free = nullptr;
  for (AttachedSegment& segment : task.segments) {
    // munmap has removed a segment that began there, or the new one replaces it.
    if (begin <= segment.begin && segment.begin < end) segment = {0, 0};
    if (free == nullptr && segment.begin == 0) free = &segment;
  }
  if (free != nullptr) *free = {begin, end};
}

void mark_detached(TaskRecord& task, uint64_t begin) {
  LockedRanges ranges(task);
  if (!ranges.held()) return;
  for (AttachedSegment& segment : task.segments) {
    if (segment.begin != begin) continue;
    // The segment may have holes with other mappings by now. If take_addresses() returns addresses
    // there, the kernel refuses them, and place_in_partition() takes the next ones.
    ranges->give(segment.begin, segment.end);
    segment = {0, 0};
  }
}

uint64_t take_addresses(TaskRecord& task, uint64_t bytes, uint64_t alignment) {
  LockedRanges ranges(task);
  return ranges.held() ? ranges->take(bytes, alignment) : 0;
}

}  // namespace nagaya::task
