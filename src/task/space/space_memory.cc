// SPDX-License-Identifier: BSD-3-Clause
#include "task/space/space_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "base/random.h"
#include "task/space/futex.h"
#include "task/space/space_heap.h"

namespace nagaya::task {
namespace {

// Least capacity, even for a small job: a manager may spawn a hundred workers, one after another.
constexpr uint32_t kCapacityLeast = 192;
constexpr uint64_t kRangeBytesChoices[] = {256ull << 30, 64ull << 30, 16ull << 30};
// Addresses between kSpaceBegin and kSpaceEnd that stay free for the random offsets of the two
// bases: 28 random bits each, more where partitions take less.
constexpr uint64_t kSlackMinBytes = 2ull << 40;
// A random gap at the beginning of a home or range takes up to 1 / kGapShare of it.
constexpr uint64_t kGapShare = 8;

uint32_t choose_capacity(const SpaceSettings& settings) {
  // Room for the children of MPI_Comm_spawn and for numbers that are not yet free again.
  const uint32_t capacity = settings.capacity != 0
                                ? settings.capacity
                                : std::max(kCapacityLeast, settings.expected_tasks * 2);
  if (capacity > kTasksMax && settings.expected_tasks <= kTasksMax && settings.capacity == 0)
    return kTasksMax;
  if (capacity > kTasksMax)
    throw base::Error(-EINVAL, "a space holds at most " + std::to_string(kTasksMax) +
                                   " tasks, asked for " + std::to_string(capacity));
  return capacity;
}

uint64_t choose_range_bytes(uint32_t capacity) {
  const uint64_t room = kSpaceEnd - kSpaceBegin - kSlackMinBytes;
  for (uint64_t bytes : kRangeBytesChoices)
    if ((kHomeBytes + bytes) * capacity <= room) return bytes;
  throw base::Error(-EINVAL, "no address range is left for " + std::to_string(capacity) + " tasks");
}

// Returns the size of a random number of pages [bytes], less than `bytes`.
uint64_t random_pages(uint64_t bytes) {
  return base::random_below(bytes / kPageBytes) * kPageBytes;
}

// Chooses the bases of homes and ranges, in this order. Before each lies a random gap of up to half
// of the free addresses.
void place_partitions(SpaceHeader& space) {
  const uint64_t homes_bytes = space.capacity * kHomeBytes;
  const uint64_t slack = kSpaceEnd - kSpaceBegin - homes_bytes - space.capacity * space.range_bytes;
  space.home_base = kSpaceBegin + random_pages(slack / 2);
  space.range_base = space.home_base + homes_bytes + random_pages(slack / 2);
}

// Marks [begin, begin + bytes) as free except for a random gap at its beginning, so that the
// address of one mapping tells little about those of other tasks.
void give_with_gap(FreeRanges& ranges, uint64_t begin, uint64_t bytes) {
  ranges.give(begin + random_pages(bytes / kGapShare), begin + bytes);
}

// Throws if `memory` of the host lies among the partitions: tasks map there at fixed addresses and
// would overwrite it.
void throw_if_among_partitions(const std::byte* memory) {
  const auto address = reinterpret_cast<uint64_t>(memory);
  if (address >= kSpaceBegin && address < kSpaceEnd)
    throw base::Error(-ENOTSUP,
                      "the kernel puts the host's memory among the addresses of tasks: set the "
                      "sysctl vm.legacy_va_layout to 0");
}

}  // namespace

uint64_t take_for_program(TaskRecord& task, uint64_t bytes, uint64_t alignment) {
  const uint64_t at = task.ranges.take(bytes, alignment);
  if (at == 0) throw base::Error(-ENOMEM, "the partition has no room for the program");
  return at;
}

SpaceMemory::SpaceMemory(const SpaceSettings& settings) {
  const uint32_t capacity = choose_capacity(settings);
  const uint64_t header_bytes = (sizeof(SpaceHeader) + kPageBytes - 1) & ~(kPageBytes - 1);
  memory_ =
      base::reserve_memory(header_bytes + capacity * kRecordBytes, "cannot reserve the space");
  heap_memory_ =
      base::reserve_undumped_memory(settings.heap_bytes, "cannot reserve the space heap");
  holds_memory_ = base::reserve_undumped_memory(uint64_t{capacity} * capacity * sizeof(uint32_t),
                                                "cannot reserve the space");
  throw_if_among_partitions(memory_.data());
  throw_if_among_partitions(heap_memory_.data());

  header_ = new (memory_.data()) SpaceHeader{};
  header_->stamp = {kMagic, kAbiMajor, kAbiMinor, sizeof(SpaceHeader), 0};
  std::copy(std::begin(build_text), std::end(build_text), header_->build);
  header_->capacity = capacity;
  header_->expected_tasks = settings.expected_tasks;
  header_->range_bytes = choose_range_bytes(capacity);
  place_partitions(*header_);
  header_->records = memory_.data() + header_bytes;
  header_->heap = create_heap(heap_memory_);
  header_->holds = reinterpret_cast<std::atomic<uint32_t>*>(holds_memory_.data());
  closed_.reserve(capacity);
}

// Returns the number `wanted` if it is free, else the lowest free one from `least` on, else the
// lowest; -1 if none is free.
int64_t SpaceMemory::find_free(int64_t wanted, uint32_t least) {
  const auto is_free = [&](int64_t number) {
    const TaskRecord& record = *header_->record(static_cast<uint32_t>(number));
    return record.state.load(std::memory_order_relaxed) == TaskState::kFree;
  };
  if (wanted >= 0 && wanted < header_->capacity && is_free(wanted)) return wanted;
  for (uint32_t number = std::max(least, maybe_free_); least != 0 && number < header_->capacity;
       ++number)
    if (is_free(number)) return number;
  while (maybe_free_ < header_->capacity && !is_free(maybe_free_)) ++maybe_free_;
  return maybe_free_ < header_->capacity ? int64_t{maybe_free_} : -1;
}

TaskRecord& SpaceMemory::open_record(int64_t wanted, uint32_t least) {
  free_closed();
  const int64_t found = find_free(wanted, least);
  if (found < 0)
    throw base::Error(-EAGAIN, "the space is full: all " + std::to_string(header_->capacity) +
                                   " task numbers are in use");
  const auto number = static_cast<uint32_t>(found);
  TaskRecord& record = *header_->record(number);
  const uint32_t generation = record.generation.load(std::memory_order_relaxed);
  const uint32_t names_changed = record.names_changed.load(std::memory_order_relaxed);
  for (uint32_t held = 0; generation != 0 && held < header_->capacity; ++held)
    header_->hold(number, held).store(0, std::memory_order_relaxed);
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
  give_with_gap(record.ranges, record.home, kHomeBytes);
  give_with_gap(record.ranges, record.range, record.range_bytes);
  record.state.store(TaskState::kStarting, std::memory_order_release);
  return record;
}

bool SpaceMemory::is_held(const TaskRecord& record) const {
  for (uint32_t holder = 0; holder < header_->capacity; ++holder) {
    const TaskState state = header_->record(holder)->state.load(std::memory_order_relaxed);
    const bool lives = state == TaskState::kStarting || state == TaskState::kRunning;
    // Acquire: pairs with the release in nagaya_task_release(): the holder's reads come before.
    if (lives && header_->hold(holder, record.number).load(std::memory_order_acquire) != 0)
      return true;
  }
  return false;
}

void SpaceMemory::mark_ended(TaskRecord& record, int wait_status) {
  record.wait_status.store(wait_status, std::memory_order_relaxed);
  // Release: a reader that sees kEnded sees the status.
  record.state.store(TaskState::kEnded, std::memory_order_release);
  record.names_changed.fetch_add(1, std::memory_order_release);
  futex_wake_all(record.names_changed);
  header_->tasks_changed.fetch_add(1, std::memory_order_release);
  futex_wake_all(header_->tasks_changed);
}

void SpaceMemory::free_closed() {
  std::sort(closed_.begin(), closed_.end());
  for (auto first = closed_.begin(); first != closed_.end();) {
    // Adjacent numbers have adjacent homes and ranges: one unmapping frees all of them.
    auto last = first + 1;
    while (last != closed_.end() && *last == *(last - 1) + 1) ++last;
    const uint64_t count = static_cast<uint64_t>(last - first);
    const TaskRecord& lowest = *header_->record(*first);
    ::munmap(reinterpret_cast<void*>(lowest.home), count * kHomeBytes);
    ::munmap(reinterpret_cast<void*>(lowest.range), count * lowest.range_bytes);
    first = last;
  }
  if (!closed_.empty()) maybe_free_ = std::min(maybe_free_, closed_.front());
  for (uint32_t number : closed_) {
    TaskRecord& record = *header_->record(number);
    reclaim_heap(record);
    record.state.store(TaskState::kFree, std::memory_order_release);
  }
  closed_.clear();
}

}  // namespace nagaya::task
