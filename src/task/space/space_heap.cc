// SPDX-License-Identifier: BSD-3-Clause
#include "task/space/space_heap.h"

#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <mutex>

#include "task/space/spin_lock.h"

namespace nagaya::task {
namespace {

using Chunk = SpaceHeap::Chunk;

uint64_t owner_id(const TaskRecord& task) {
  return uint64_t{task.generation.load(std::memory_order_relaxed)} << 32 | (task.number + 1);
}

// The owner word of a chunk that belongs to the space. Tasks' words have number + 1 in the low
// half.
constexpr uint64_t kOwnedBySpace = 1ull << 63;

uint64_t address_of(const SpaceHeap& heap, uint32_t chunk) {
  return heap.chunks_base + chunk * kChunkBytes;
}

// Returns the index of the chunk that contains `address`, -1 if it lies outside of all chunks.
int64_t chunk_of(const SpaceHeap& heap, uint64_t address) {
  if (address < heap.chunks_base) return -1;
  const uint64_t chunk = (address - heap.chunks_base) / kChunkBytes;
  return chunk < heap.chunk_count ? static_cast<int64_t>(chunk) : -1;
}

bool claim(Chunk& chunk, uint64_t owner) {
  uint64_t free = 0;
  // Acquire: pairs with the release that freed the chunk.
  return chunk.owner.load(std::memory_order_relaxed) == 0 &&
         chunk.owner.compare_exchange_strong(free, owner, std::memory_order_acquire,
                                             std::memory_order_relaxed);
}

void release(Chunk& chunk, uint64_t owner) {
  // Frees the chunk only if `owner` still owns it: the host may have reclaimed it meanwhile.
  chunk.owner.compare_exchange_strong(owner, 0, std::memory_order_release,
                                      std::memory_order_relaxed);
}

void note_claimed(SpaceHeap& heap, uint32_t end) {
  uint32_t known = heap.claimed_end.load(std::memory_order_relaxed);
  // Release: the host, once it has seen the end of the task, finds all its chunks below
  // claimed_end.
  while (known < end && !heap.claimed_end.compare_exchange_weak(
                            known, end, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

// Claims `run` adjacent chunks. Returns the index of the first, -1 if there are not enough.
int64_t claim_run(SpaceHeap& heap, uint32_t run, uint64_t owner) {
  uint32_t first = 0;
  while (first + uint64_t{run} <= heap.chunk_count) {
    uint32_t got = 0;
    note_claimed(heap, first + run);  // before the claim: a task killed between leaks nothing
    while (got < run && claim(heap.chunks[first + got], owner)) ++got;
    if (got == run) return first;
    const uint32_t taken = first + got;
    while (got > 0) release(heap.chunks[first + --got], owner);
    first = taken + 1;
  }
  return -1;
}

void* allocate_large(TaskRecord& self, uint64_t bytes) {
  SpaceHeap& heap = *self.space->heap;
  if (bytes > heap.chunk_count * kChunkBytes) return nullptr;
  const uint64_t run = (bytes + kChunkBytes - 1) / kChunkBytes;
  const int64_t first = claim_run(heap, static_cast<uint32_t>(run), owner_id(self));
  if (first < 0) return nullptr;
  for (uint64_t n = 0; n < run; ++n) heap.chunks[first + static_cast<int64_t>(n)].set_layout(0, 0);
  heap.chunks[first].set_layout(0, static_cast<uint32_t>(run));
  return reinterpret_cast<void*>(address_of(heap, static_cast<uint32_t>(first)));
}

size_t class_of(uint64_t bytes) {
  return bytes <= kHeapBlockMinBytes
             ? 0
             : static_cast<size_t>(std::bit_width((bytes - 1) / kHeapBlockMinBytes));
}

void push_own(TaskRecord& self, void* block, uint64_t block_bytes) {
  HeapClass& blocks = self.heap_classes[class_of(block_bytes)];
  *static_cast<void**>(block) = blocks.free;
  blocks.free = block;
}

void take_returned(TaskRecord& self) {
  // Acquire: pairs with the release of the push in return_to().
  void* block = self.heap_returned.exchange(nullptr, std::memory_order_acquire);
  while (block != nullptr) {
    void* next = *static_cast<void**>(block);
    const SpaceHeap& heap = *self.space->heap;
    const int64_t chunk = chunk_of(heap, reinterpret_cast<uint64_t>(block));
    push_own(self, block, heap.chunks[chunk].block_bytes);
    block = next;
  }
}

void return_to(TaskRecord& owner, void* block) {
  void* head = owner.heap_returned.load(std::memory_order_relaxed);
  do {
    *static_cast<void**>(block) = head;
    // Release: the block's link is visible to the owner's exchange.
  } while (!owner.heap_returned.compare_exchange_weak(head, block, std::memory_order_release,
                                                      std::memory_order_relaxed));
}

void* allocate_block(TaskRecord& self, size_t size_class) {
  const std::lock_guard<SpinLock> guard(self.heap_lock);
  HeapClass& blocks = self.heap_classes[size_class];
  if (blocks.free == nullptr) take_returned(self);
  if (void* block = blocks.free) {
    blocks.free = *static_cast<void**>(block);
    return block;
  }
  const uint64_t block_bytes = kHeapBlockMinBytes << size_class;
  if (blocks.bump == blocks.end) {
    SpaceHeap& heap = *self.space->heap;
    const int64_t chunk = claim_run(heap, 1, owner_id(self));
    if (chunk < 0) return nullptr;
    heap.chunks[chunk].set_layout(static_cast<uint32_t>(block_bytes), 0);
    blocks.bump = address_of(heap, static_cast<uint32_t>(chunk));
    blocks.end = blocks.bump + kChunkBytes;
  }
  return reinterpret_cast<void*>(std::exchange(blocks.bump, blocks.bump + block_bytes));
}

}  // namespace

SpaceHeap* create_heap(const base::Mapping& memory) {
  const uint64_t begin = reinterpret_cast<uint64_t>(memory.data());
  auto* heap = reinterpret_cast<SpaceHeap*>(memory.data());
  const uint64_t table_bytes = sizeof(SpaceHeap) + memory.bytes() / kChunkBytes * sizeof(Chunk);
  heap->stamp = {kMagic, kAbiMajor, kAbiMinor, sizeof(SpaceHeap), 0};
  heap->chunks_base = (begin + table_bytes + kChunkBytes - 1) & ~(kChunkBytes - 1);
  heap->chunk_count =
      static_cast<uint32_t>((begin + memory.bytes() - heap->chunks_base) / kChunkBytes);
  return heap;
}

void reclaim_heap(TaskRecord& record) {
  SpaceHeap& heap = *record.space->heap;
  const uint64_t owner = owner_id(record);
  const uint32_t end = heap.claimed_end.load(std::memory_order_acquire);
  for (uint32_t chunk = 0; chunk < end; ++chunk) {
    if (heap.chunks[chunk].owner.load(std::memory_order_relaxed) != owner) continue;
    ::madvise(reinterpret_cast<void*>(address_of(heap, chunk)), kChunkBytes, MADV_DONTNEED);
    release(heap.chunks[chunk], owner);
  }
}

void* heap_allocate(TaskRecord& self, uint64_t bytes) {
  return bytes > kHeapBlockMaxBytes ? allocate_large(self, bytes)
                                    : allocate_block(self, class_of(bytes));
}

int heap_free(TaskRecord& self, void* block) {
  SpaceHeap& heap = *self.space->heap;
  const uint64_t address = reinterpret_cast<uint64_t>(block);
  const int64_t first = chunk_of(heap, address);
  if (first < 0) return -EINVAL;
  Chunk& chunk = heap.chunks[first];
  const uint64_t owner = chunk.owner.load(std::memory_order_relaxed);
  const uint64_t offset = address - address_of(heap, static_cast<uint32_t>(first));
  if (owner == 0) return -EINVAL;
  if (chunk.block_bytes == 0) {
    if (offset != 0 || chunk.run == 0) return -EINVAL;
    const uint32_t run = std::exchange(chunk.run, 0);
    ::madvise(block, run * kChunkBytes, MADV_DONTNEED);
    for (uint32_t n = run; n > 0; --n) release(heap.chunks[first + n - 1], owner);
    return 0;
  }
  if (offset % chunk.block_bytes != 0) return -EINVAL;
  if (owner == owner_id(self)) {
    const std::lock_guard<SpinLock> guard(self.heap_lock);
    push_own(self, block, chunk.block_bytes);
  } else {
    return_to(*self.space->record(static_cast<uint32_t>(owner) - 1), block);
  }
  return 0;
}

int heap_leave_to_space(TaskRecord& self, void* block) {
  SpaceHeap& heap = *self.space->heap;
  const uint64_t address = reinterpret_cast<uint64_t>(block);
  const int64_t first = chunk_of(heap, address);
  if (first < 0 || address != address_of(heap, static_cast<uint32_t>(first))) return -EINVAL;
  for (uint32_t n = heap.chunks[first].run; n > 0; --n) {
    uint64_t own = owner_id(self);
    // Relaxed: the task publishes the block to others by a release of its own.
    if (!heap.chunks[first + n - 1].owner.compare_exchange_strong(
            own, kOwnedBySpace, std::memory_order_relaxed, std::memory_order_relaxed))
      return -EINVAL;
  }
  return heap.chunks[first].run != 0 ? 0 : -EINVAL;
}

int64_t heap_owner(const SpaceHeap& heap, uint64_t address) {
  const int64_t chunk = chunk_of(heap, address);
  if (chunk < 0) return -1;
  const auto owner =
      static_cast<uint32_t>(heap.chunks[chunk].owner.load(std::memory_order_acquire));
  return static_cast<int64_t>(owner) - 1;
}

}  // namespace nagaya::task
