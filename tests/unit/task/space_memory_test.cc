// SPDX-License-Identifier: BSD-3-Clause
#include "task/space/space_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <set>
#include <thread>

#include "smaps.h"
#include "task/clear_space.h"
#include "task/error_code.h"
#include "task/space/names.h"
#include "task/space/space_heap.h"

namespace nagaya::task {
namespace {

SpaceSettings small_space(uint32_t capacity) {
  return {.expected_tasks = 0, .capacity = capacity, .heap_bytes = 64 << 20};
}

TEST(SpaceMemory, HandsOutTheLowestFreeNumberOrTheOneAskedFor) {
  SpaceMemory space(small_space(4));
  EXPECT_EQ(space.open_record(-1).number, 0u);
  EXPECT_EQ(space.open_record(2).number, 2u);
  EXPECT_EQ(space.open_record(2).number, 1u) << "2 is taken";
  EXPECT_EQ(space.open_record(100).number, 3u);
}

TEST(SpaceMemory, LeavesTheLowestNumbersToThoseThatAskForThem) {
  SpaceMemory space(small_space(4));
  EXPECT_EQ(space.open_record(-1, 2).number, 2u);
  EXPECT_EQ(space.open_record(1, 2).number, 1u);
  EXPECT_EQ(space.open_record(1, 2).number, 3u) << "1 is taken";
  EXPECT_EQ(space.open_record(-1, 2).number, 0u) << "no other is left";
}

TEST(SpaceMemory, SaysThatItIsFull) {
  ClearSpace space(small_space(2));
  space.open_record(-1);
  TaskRecord& second = space.open_record(-1);
  EXPECT_EQ(code_of([&] { space.open_record(-1); }), -EAGAIN);
  space.mark_ended(second, 0);
  EXPECT_EQ(code_of([&] { space.open_record(-1); }), -EAGAIN) << "ended, but not waited for";
  space.close_record(second);
  space.free_closed();
  EXPECT_EQ(space.open_record(-1).number, 1u);
}

TEST(SpaceMemory, OfASmallJobHasRoomForTheManyThatItSpawns) {
  SpaceMemory space({.expected_tasks = 1, .heap_bytes = 64 << 20});
  for (int n = 0; n <= 128; ++n) space.open_record(-1);
}

TEST(SpaceMemory, RefusesMoreTasksThanTheAddressSpaceHolds) {
  EXPECT_EQ(code_of([] { SpaceMemory space(small_space(4097)); }), -EINVAL);
  EXPECT_EQ(code_of([] { SpaceMemory space({.expected_tasks = 5000}); }), -EINVAL);
}

TEST(SpaceMemory, HasRoomForFourThousandTasksAndForOne) {
  for (uint32_t capacity : {1u, 64u, 1000u, 4096u}) {
    SpaceMemory space(small_space(capacity));
    TaskRecord& last = space.open_record(capacity - 1);
    EXPECT_EQ(last.number, capacity - 1);
    EXPECT_LE(last.range + last.range_bytes, kSpaceEnd);
    EXPECT_GE(last.home, kSpaceBegin);
  }
}

// Which of an address's bits have been seen as 1, and which as 0.
struct SeenBits {
  uint64_t ones = 0, zeros = 0;

  void add(uint64_t address) {
    ones |= address;
    zeros |= ~address;
  }
  // Whether each of the bits first .. last has taken both values.
  void expect_random(int first, int last, const char* what) const {
    for (int bit = first; bit <= last; ++bit)
      EXPECT_EQ(ones & zeros & uint64_t{1} << bit, uint64_t{1} << bit) << what << ", bit " << bit;
  }
};

TEST(SpaceMemory, LaysTwoSpacesAtDifferentAddressesWithRandomHighAndLowBits) {
  // 64 spaces: a fair bit fails to take both values once in 2^63 times.
  for (const auto& [capacity, last_bit] : {std::pair{1u, 40}, {192u, 40}, {4096u, 39}}) {
    SeenBits homes, ranges;
    std::set<uint64_t> bases;
    for (int n = 0; n < 64; ++n) {
      SpaceMemory space(small_space(capacity));
      const SpaceHeader& header = space.header();
      EXPECT_EQ(header.home_base % kPageBytes, 0u);
      EXPECT_EQ(header.range_base % kPageBytes, 0u);
      EXPECT_GE(header.home_base, kSpaceBegin);
      EXPECT_GE(header.range_base, header.home_base + capacity * kHomeBytes);
      EXPECT_LE(header.range_base + capacity * header.range_bytes, kSpaceEnd);
      bases.insert({header.home_base, header.range_base});
      homes.add(header.home_base);
      ranges.add(header.range_base);
    }
    EXPECT_EQ(bases.size(), 128u);
    homes.expect_random(12, last_bit, "home_base");
    ranges.expect_random(12, last_bit, "range_base");
  }
}

TEST(SpaceMemory, BeginsEachTasksMappingsAtAnotherPageOfItsHomeAndItsRange) {
  SpaceMemory space(small_space(64));
  SeenBits homes, ranges;
  for (int n = 0; n < 64; ++n) {
    TaskRecord& task = space.open_record(-1);
    const uint64_t in_home = task.ranges.take(kPageBytes, kPageBytes);
    const uint64_t in_range = task.ranges.take(kHomeBytes, kPageBytes);
    EXPECT_LT(in_home - task.home, kHomeBytes / 8);
    EXPECT_LT(in_range - task.range, task.range_bytes / 8);
    homes.add(in_home - task.home);
    ranges.add(in_range - task.range);
  }
  homes.expect_random(12, 23, "first mapping in a home");
  ranges.expect_random(12, 34, "first mapping in a range");
}

TEST(SpaceMemory, BeginsTheMappingsOfANumbersNextTaskAtAnotherPage) {
  ClearSpace space(small_space(1));
  std::set<uint64_t> seen;
  for (int n = 0; n < 64; ++n) {
    TaskRecord& task = space.open_record(0);
    seen.insert(task.ranges.take(kPageBytes, kPageBytes));
    space.mark_ended(task, 0);
    space.close_record(task);
  }
  EXPECT_GT(seen.size(), 50u);  // of 4096 pages: some may come twice
}

TEST(SpaceMemory, GivesPartitionsThatDoNotOverlap) {
  SpaceMemory space(small_space(16));
  std::set<std::pair<uint64_t, uint64_t>> spans;
  for (uint32_t n = 0; n < 16; ++n) {
    const TaskRecord& task = space.open_record(-1);
    spans.insert({task.home, task.home + kHomeBytes});
    spans.insert({task.range, task.range + task.range_bytes});
    EXPECT_EQ(number_of(space.header(), task.home), n);
    EXPECT_EQ(number_of(space.header(), task.range + task.range_bytes - 1), n);
  }
  uint64_t end = 0;
  for (const auto& [begin, span_end] : spans) {
    EXPECT_GE(begin, end);
    end = span_end;
  }
}

TEST(SpaceMemory, FreesPartitionAndBlocksOfAClosedTask) {
  ClearSpace space(small_space(2));
  TaskRecord& task = space.open_record(-1);
  const uint64_t home = task.ranges.take(kPageBytes, kPageBytes);
  ASSERT_EQ(number_of(space.header(), home), 0);
  ASSERT_NE(::mmap(reinterpret_cast<void*>(home), kPageBytes, PROT_READ,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
            MAP_FAILED);
  void* block = heap_allocate(task, 3 * kChunkBytes);
  ASSERT_EQ(heap_owner(*space.header().heap, reinterpret_cast<uint64_t>(block)), 0);
  space.mark_ended(task, 0);
  space.close_record(task);
  space.free_closed();
  unsigned char resident;
  EXPECT_EQ(::mincore(reinterpret_cast<void*>(home), kPageBytes, &resident), -1);
  EXPECT_EQ(heap_owner(*space.header().heap, reinterpret_cast<uint64_t>(block)), -1);
}

TEST(SpaceMemory, ResetsARecordThatWasTornByADeath) {
  ClearSpace space(small_space(1));
  TaskRecord& torn = space.open_record(0);
  const uint32_t generation = torn.generation;
  torn.ranges.take(1 << 20, kPageBytes);
  torn.ranges.count = 77;
  torn.heap_lock.lock();
  torn.names_lock.lock();
  torn.heap_classes[0].free = &torn;
  space.mark_ended(torn, 9);
  space.close_record(torn);
  space.free_closed();
  TaskRecord& next = space.open_record(0);
  EXPECT_EQ(next.generation, generation + 1);
  EXPECT_EQ(next.ranges.count, 2u);
  int value;
  EXPECT_EQ(publish_name(next, "halo", &value), 0);
  EXPECT_NE(heap_allocate(next, 64), nullptr);
}

TEST(SpaceMemory, KeepsItsHeapOutOfCoreFilesAndItsRecordsIn) {
  SpaceMemory space(small_space(1));
  EXPECT_TRUE(is_left_out_of_core_files(space.header().heap));
  EXPECT_TRUE(is_left_out_of_core_files(heap_allocate(space.open_record(0), 64)));
  EXPECT_FALSE(is_left_out_of_core_files(space.header().record(0)));  // `nagaya gdb` reads it
}

TEST(SpaceMemory, WakesWaitersOfAnEndedTask) {
  SpaceMemory space(small_space(1));
  TaskRecord& task = space.open_record(0);
  std::thread host([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    space.mark_ended(task, 0x100);
  });
  void* found = nullptr;
  EXPECT_EQ(look_up_name(task, "never", -1, &found), -EOWNERDEAD);
  EXPECT_EQ(WEXITSTATUS(task.wait_status), 1);
  host.join();
}

}  // namespace
}  // namespace nagaya::task
