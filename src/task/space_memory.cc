// SPDX-License-Identifier: BSD-3-Clause
#include "task/space_memory.h"

#include <sys/mman.h>
#include <sys/random.h>

#include <algorithm>
#include <new>

#include "task/freestanding/futex.h"
#include "task/space_heap.h"

namespace nagaya::task {
namespace {

constexpr uint32_t kCapacityMax = 4096;
constexpr uint64_t kRangeBytesChoices[] = {256ull << 30, 64ull << 30, 16ull << 30};
// Between homes and ranges of neighbouring spaces of a run: the random part of the base.
constexpr uint64_t kRandomSlots = 64;

uint32_t choose_capacity(const SpaceSettings& settings) {
  // Room for the children of MPI_Comm_spawn and for numbers that are not yet free again.
  const uint32_t capacity =
      settings.capacity != 0 ? settings.capacity : std::max(64u, settings.expected_tasks * 2);
  if (capacity > kCapacityMax && settings.expected_tasks <= kCapacityMax && settings.capacity == 0)
    return kCapacityMax;
  if (capacity > kCapacityMax)
    throw base::Error(-EINVAL, "a space holds at most " + std::to_string(kCapacityMax) +
                                   " tasks, asked for " + std::to_string(capacity));
  return capacity;
}

uint64_t choose_range_bytes(uint32_t capacity) {
  const uint64_t room = kSpaceEnd - kSpaceBegin - (kCapacityMax + kRandomSlots) * kHomeBytes;
  for (uint64_t bytes : kRangeBytesChoices)
    if (bytes * (capacity + 2) <= room) return bytes;
  throw base::Error(-EINVAL, "no address range is left for " + std::to_string(capacity) + " tasks");
}

uint64_t random_below(uint64_t bound) {
  uint64_t value = 0;
  if (::getrandom(&value, sizeof value, 0) != sizeof value) base::throw_errno("getrandom");
  return value % bound;
}

}  // namespace

SpaceMemory::SpaceMemory(const SpaceSettings& settings) {
  const uint32_t capacity = choose_capacity(settings);
  const uint64_t header_bytes = (sizeof(SpaceHeader) + kPageBytes - 1) & ~(kPageBytes - 1);
  memory_ =
      base::reserve_memory(header_bytes + capacity * kRecordBytes, "cannot reserve the space");
  heap_memory_ = base::reserve_memory(settings.heap_bytes, "cannot reserve the space heap");

  header_ = new (memory_.data()) SpaceHeader{};
  header_->stamp = {kMagic, kAbiMajor, kAbiMinor, sizeof(SpaceHeader), 0};
  header_->capacity = capacity;
  header_->expected_tasks = settings.expected_tasks;
  header_->range_bytes = choose_range_bytes(capacity);
  const uint64_t ranges_begin = kSpaceBegin + (kCapacityMax + kRandomSlots) * kHomeBytes;
  const uint64_t spare = (kSpaceEnd - ranges_begin) / header_->range_bytes - capacity;
  header_->home_base = kSpaceBegin + random_below(kRandomSlots) * kHomeBytes;
  header_->range_base = ranges_begin + random_below(spare) * header_->range_bytes;
  header_->records = memory_.data() + header_bytes;
  header_->heap = create_heap(heap_memory_);
}

TaskRecord& SpaceMemory::open_record(int64_t wanted) {
  const auto is_free = [&](uint32_t number) {
    return header_->record(number)->state.load(std::memory_order_relaxed) == TaskState::kFree;
  };
  uint32_t number = 0;
  if (wanted >= 0 && wanted < header_->capacity && is_free(static_cast<uint32_t>(wanted)))
    number = static_cast<uint32_t>(wanted);
  else
    while (number < header_->capacity && !is_free(number)) ++number;
  if (number == header_->capacity)
    throw base::Error(-EAGAIN, "the space is full: all " + std::to_string(header_->capacity) +
                                   " task numbers are in use");
  TaskRecord& record = *header_->record(number);
  const uint32_t generation = record.generation.load(std::memory_order_relaxed);
  const uint32_t names_changed = record.names_changed.load(std::memory_order_relaxed);
  new (&record) TaskRecord{};
  record.stamp = {kMagic, kAbiMajor, kAbiMinor, sizeof(TaskRecord), 0};
  record.space = header_;
  record.number = number;
  record.generation.store(generation + 1, std::memory_order_relaxed);
  record.names_changed.store(names_changed, std::memory_order_relaxed);
  record.home = header_->home_base + number * kHomeBytes;
  record.range = header_->range_base + number * header_->range_bytes;
  record.range_bytes = header_->range_bytes;
  const size_t ranges_bytes = kRecordBytes - sizeof(TaskRecord);
  record.ranges.reset(static_cast<uint32_t>(ranges_bytes / sizeof(FreeRanges::Range)));
  record.ranges.give(record.home, record.home + kHomeBytes);
  record.ranges.give(record.range, record.range + record.range_bytes);
  record.state.store(TaskState::kStarting, std::memory_order_release);
  return record;
}

void SpaceMemory::mark_ended(TaskRecord& record, int wait_status) {
  record.wait_status.store(wait_status, std::memory_order_relaxed);
  // Release: who sees kEnded sees the status.
  record.state.store(TaskState::kEnded, std::memory_order_release);
  record.names_changed.fetch_add(1, std::memory_order_release);
  futex_wake_all(record.names_changed);
  header_->tasks_changed.fetch_add(1, std::memory_order_release);
  futex_wake_all(header_->tasks_changed);
}

void SpaceMemory::close_record(TaskRecord& record) {
  ::munmap(reinterpret_cast<void*>(record.home), kHomeBytes);
  ::munmap(reinterpret_cast<void*>(record.range), record.range_bytes);
  reclaim_heap(record);
  record.state.store(TaskState::kFree, std::memory_order_release);
}

}  // namespace nagaya::task
