// SPDX-License-Identifier: BSD-3-Clause
#include "task/space/space_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "task/handmade_space.h"

namespace nagaya::task {
namespace {

TEST(SpaceHeap, GivesBlocksThatDoNotOverlap) {
  HandmadeSpace space;
  std::set<std::pair<uint64_t, uint64_t>> blocks;
  for (uint64_t bytes : {1, 64, 65, 1000, 4096, 5000, 131072, 131073, 600000}) {
    for (int n = 0; n < 3; ++n) {
      const auto at = reinterpret_cast<uint64_t>(heap_allocate(space.task(n % 2), bytes));
      ASSERT_NE(at, 0u);
      const auto above = blocks.lower_bound({at, 0});
      EXPECT_TRUE(above == blocks.end() || at + bytes <= above->first);
      EXPECT_TRUE(above == blocks.begin() || std::prev(above)->second <= at);
      blocks.insert({at, at + bytes});
    }
  }
}

TEST(SpaceHeap, AlignsABlockToItsPowerOfTwo) {
  HandmadeSpace space;
  for (uint64_t bytes = 1; bytes <= 2 * kHeapBlockMaxBytes; bytes = bytes * 2 + 1) {
    const auto at = reinterpret_cast<uint64_t>(heap_allocate(space.task(0), bytes));
    const uint64_t alignment = bytes > kHeapBlockMaxBytes
                                   ? kChunkBytes
                                   : std::max(kHeapBlockMinBytes, std::bit_ceil(bytes));
    EXPECT_EQ(at % alignment, 0u) << bytes;
  }
}

TEST(SpaceHeap, IsZeroAtFirstUse) {
  HandmadeSpace space;
  const auto* bytes = static_cast<const char*>(heap_allocate(space.task(0), 300000));
  EXPECT_TRUE(std::all_of(bytes, bytes + 300000, [](char c) { return c == 0; }));
}

TEST(SpaceHeap, GivesAFreedBlockAgain) {
  HandmadeSpace space;
  void* block = heap_allocate(space.task(0), 100);
  EXPECT_EQ(heap_free(space.task(0), block), 0);
  EXPECT_EQ(heap_allocate(space.task(0), 128), block);
}

TEST(SpaceHeap, GivesTheOwnerWhatAnotherTaskFreed) {
  HandmadeSpace space(1);
  TaskRecord& owner = space.task(0);
  std::set<void*> blocks;
  while (void* block = heap_allocate(owner, 100)) blocks.insert(block);
  EXPECT_EQ(blocks.size(), kChunkBytes / 128);
  for (void* block : blocks) EXPECT_EQ(heap_free(space.task(1), block), 0);
  EXPECT_EQ(heap_allocate(space.task(1), 100), nullptr) << "the blocks stay the owner's";
  std::set<void*> again;
  while (void* block = heap_allocate(owner, 100)) again.insert(block);
  EXPECT_EQ(again, blocks);
}

TEST(SpaceHeap, GivesALargeBlockBackToAllTasks) {
  HandmadeSpace space(8);
  void* block = heap_allocate(space.task(0), 8 * kChunkBytes);
  ASSERT_NE(block, nullptr);
  std::memset(block, 0x5a, 8 * kChunkBytes);
  EXPECT_EQ(heap_allocate(space.task(1), 64), nullptr);
  EXPECT_EQ(heap_free(space.task(2), block), 0);
  EXPECT_EQ(space.free_chunks(), 8u);
  const auto* next = static_cast<const char*>(heap_allocate(space.task(1), 8 * kChunkBytes));
  ASSERT_EQ(next, block);
  EXPECT_TRUE(std::all_of(next, next + 8 * kChunkBytes, [](char c) { return c == 0; }))
      << "a freed large block is backed by memory no longer";
}

TEST(SpaceHeap, FindsARunBetweenOtherTasksChunks) {
  HandmadeSpace space(10);
  std::vector<void*> blocks;
  for (int n = 0; n < 5; ++n) blocks.push_back(heap_allocate(space.task(n % 3), 2 * kChunkBytes));
  EXPECT_EQ(heap_allocate(space.task(0), kChunkBytes), nullptr);
  EXPECT_EQ(heap_free(space.task(0), blocks[1]), 0);
  EXPECT_EQ(heap_free(space.task(0), blocks[3]), 0);
  EXPECT_EQ(heap_allocate(space.task(1), 3 * kChunkBytes), nullptr) << "no run of three";
  EXPECT_EQ(space.free_chunks(), 4u) << "the failed search keeps nothing";
  EXPECT_EQ(heap_allocate(space.task(1), 2 * kChunkBytes), blocks[1]);
  EXPECT_EQ(heap_allocate(space.task(1), 2 * kChunkBytes), blocks[3]);
}

TEST(SpaceHeap, ReturnsNullWhenExhausted) {
  HandmadeSpace space(4);
  EXPECT_EQ(heap_allocate(space.task(0), 5 * kChunkBytes), nullptr);
  EXPECT_EQ(space.free_chunks(), 4u);
}

TEST(SpaceHeap, ReturnsNullForSizesThatNoMachineHas) {
  for (uint64_t bytes : {~uint64_t{0}, ~uint64_t{0} - 1, ~uint64_t{0} - kChunkBytes + 2,
                         uint64_t{1} << 63, uint64_t{1} << 50}) {
    HandmadeSpace space(4);
    EXPECT_EQ(heap_allocate(space.task(0), bytes), nullptr) << bytes;
    EXPECT_EQ(space.free_chunks(), 4u) << bytes;
  }
}

TEST(SpaceHeap, RefusesToFreeWhatIsNoBlock) {
  HandmadeSpace space(8);
  TaskRecord& self = space.task(0);
  char* block = static_cast<char*>(heap_allocate(self, 100));
  char* large = static_cast<char*>(heap_allocate(self, 3 * kChunkBytes));
  char on_stack;
  EXPECT_EQ(heap_free(self, nullptr), -EINVAL);
  EXPECT_EQ(heap_free(self, &on_stack), -EINVAL);
  EXPECT_EQ(heap_free(self, block + 1), -EINVAL);
  EXPECT_EQ(heap_free(self, large + 64), -EINVAL);
  EXPECT_EQ(heap_free(self, large + kChunkBytes), -EINVAL);
  EXPECT_EQ(heap_free(self, large + 3 * kChunkBytes), -EINVAL) << "a chunk that nobody has";
  EXPECT_EQ(heap_free(self, large), 0);
  EXPECT_EQ(heap_free(self, large), -EINVAL) << "a second time";
}

// The chunks of a large block were used for small ones before: their old sizes must not count.
TEST(SpaceHeap, RefusesToFreeTheInsideOfALargeBlockInReusedChunks) {
  HandmadeSpace space(4);
  for (int n = 0; n < 4; ++n)
    for (uint64_t got = 0; got < kChunkBytes; got += kHeapBlockMaxBytes)
      ASSERT_NE(heap_allocate(space.task(0), kHeapBlockMaxBytes), nullptr);
  reclaim_heap(space.task(0));
  space.open(0);
  char* large = static_cast<char*>(heap_allocate(space.task(1), 4 * kChunkBytes));
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(heap_free(space.task(1), large + kChunkBytes), -EINVAL);
}

TEST(SpaceHeap, KnowsTheOwnerOfEveryAddress) {
  HandmadeSpace space(8);
  char* small = static_cast<char*>(heap_allocate(space.task(3), 64));
  char* large = static_cast<char*>(heap_allocate(space.task(5), 2 * kChunkBytes));
  EXPECT_EQ(heap_owner(space.heap(), reinterpret_cast<uint64_t>(small)), 3);
  EXPECT_EQ(heap_owner(space.heap(), reinterpret_cast<uint64_t>(large) + 2 * kChunkBytes - 1), 5);
  EXPECT_EQ(heap_owner(space.heap(), reinterpret_cast<uint64_t>(large) + 2 * kChunkBytes), -1);
  EXPECT_EQ(heap_owner(space.heap(), 0), -1);
  EXPECT_EQ(heap_owner(space.heap(), ~uint64_t{0}), -1);
}

TEST(SpaceHeap, ReclaimsAllOfOneTaskAndNothingOfOthers) {
  HandmadeSpace space(16);
  char* kept = static_cast<char*>(heap_allocate(space.task(1), 2 * kChunkBytes));
  char* kept_small = static_cast<char*>(heap_allocate(space.task(1), 64));
  std::memset(kept, 1, 2 * kChunkBytes);
  std::memset(kept_small, 2, 64);
  heap_allocate(space.task(0), 3 * kChunkBytes);
  for (uint64_t bytes = 64; bytes <= kHeapBlockMaxBytes; bytes *= 4)
    heap_allocate(space.task(0), bytes);
  reclaim_heap(space.task(0));
  EXPECT_EQ(space.chunks_of(0), 0u);
  EXPECT_EQ(space.chunks_of(1), 3u);
  EXPECT_EQ(space.free_chunks(), 13u);
  EXPECT_TRUE(std::all_of(kept, kept + 2 * kChunkBytes, [](char c) { return c == 1; }));
  EXPECT_TRUE(std::all_of(kept_small, kept_small + 64, [](char c) { return c == 2; }));
}

TEST(SpaceHeap, DoesNotReclaimWhatANewTaskOfTheSameNumberHas) {
  HandmadeSpace space(8);
  heap_allocate(space.task(0), 64);
  reclaim_heap(space.task(0));
  TaskRecord& next = space.open(0);
  heap_allocate(next, kChunkBytes);
  EXPECT_EQ(space.chunks_of(0), 1u);
  reclaim_heap(next);
  EXPECT_EQ(space.free_chunks(), 8u);
}

// Threads of two tasks exchange blocks; everyone frees what somebody else allocated.
TEST(SpaceHeap, LosesNothingWhileManyThreadsAllocateAndFree) {
  HandmadeSpace space(256);
  std::mutex lock;
  std::vector<std::pair<unsigned char*, uint64_t>> shared;
  const auto work = [&](uint32_t number, uint32_t seed) {
    std::mt19937 random(seed);
    for (int n = 0; n < 4000; ++n) {
      const bool large = random() % 50 == 0;
      const uint64_t bytes = large ? kChunkBytes + random() % kChunkBytes : 1 + random() % 3000;
      auto* block = static_cast<unsigned char*>(heap_allocate(space.task(number), bytes));
      if (block != nullptr) {
        std::memset(block, static_cast<int>(bytes % 251), std::min<uint64_t>(bytes, 3000));
        const std::lock_guard<std::mutex> guard(lock);
        shared.emplace_back(block, bytes);
      }
      std::pair<unsigned char*, uint64_t> taken{};
      {
        const std::lock_guard<std::mutex> guard(lock);
        if (shared.size() < 40) continue;
        std::swap(shared[random() % shared.size()], shared.back());
        taken = shared.back();
        shared.pop_back();
      }
      for (uint64_t i = 0; i < std::min<uint64_t>(taken.second, 3000); ++i)
        ASSERT_EQ(taken.first[i], taken.second % 251) << "someone else wrote into the block";
      ASSERT_EQ(heap_free(space.task(number), taken.first), 0);
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t n = 0; n < 6; ++n) threads.emplace_back(work, n % 3, n);
  for (std::thread& thread : threads) thread.join();
  for (auto& [block, bytes] : shared) ASSERT_EQ(heap_free(space.task(7), block), 0);
  for (uint32_t number = 0; number < 3; ++number) reclaim_heap(space.task(number));
  EXPECT_EQ(space.free_chunks(), 256u);
}

}  // namespace
}  // namespace nagaya::task
