// SPDX-License-Identifier: BSD-3-Clause
// space_heap.h - memory for structures that the tasks of a space share.
//
//   | SpaceHeap: header, one Chunk per chunk | chunk 0 (256 KiB) | chunk 1 | ...
//
// A chunk belongs to one task at a time and holds blocks of one size, or is part of a run for one
// large block. The ONLY words that tasks contend for are the chunks' owner words, each claimed by
// one compare-and-swap. Only the owner of a chunk allocates inside it.
//
//   operation            who                  how
//   allocate             owner                from its class list, under its own lock
//   free of an own block owner                onto its class list, under its own lock
//   free of another's    any task             one push onto the owner's `heap_returned`
//   take returned blocks owner                exchange of the whole list: no ABA
//   claim a chunk        any task             CAS owner word 0 -> id
//   free a large block   any task             CAS owner word id -> 0, last chunk first
//   leave to the space   owner                CAS owner word id -> the space's, last chunk first
//   reclaim              host, after the end  every owner word with the dead task's id -> 0
//
// The users must exclude one pair: no task may free a block while another one waits for the end of
// the block's owner, because the host then frees all blocks of that owner.
// Death, at any instruction: the dead task's lists may be torn, but no other task reads them; the
// owner words name the dead task's chunks, so the host reclaims all of them. A push has happened or
// not; a block not yet returned is freed with its owner. Progress: no operation waits for another
// task.
#pragma once

#include "base/fd.h"
#include "task/space/space.h"

namespace nagaya::task {

inline constexpr uint64_t kChunkBytes = 256 << 10;
inline constexpr uint64_t kHeapBlockMinBytes = 64;
inline constexpr uint64_t kHeapBlockMaxBytes = kHeapBlockMinBytes << (kHeapClasses - 1);

struct SpaceHeap {
  struct Chunk {
    std::atomic<uint64_t> owner;  // generation << 32 | number + 1; 0: free
    uint32_t block_bytes;         // 0: part of a large block
    uint32_t run;                 // chunks of the large block that begins here; 0: none begins

    // Called by the owner only, before it allocates blocks of the chunk.
    void set_layout(uint32_t bytes, uint32_t chunks) {
      block_bytes = bytes;
      run = chunks;
    }
  };

  Stamp stamp;
  uint64_t chunks_base;
  uint32_t chunk_count;
  std::atomic<uint32_t> claimed_end;  // chunks from here on have never been claimed
  Chunk chunks[];
};

// Called in the host: lays the heap out in `memory` (zero pages, more than one chunk).
SpaceHeap* create_heap(const base::Mapping& memory);

// Called in the host, after the task of `record` has ended: frees all chunks that it owned.
void reclaim_heap(TaskRecord& record);

// Called in a task: returns a block of `bytes`, zeroed at first use only; nullptr if the heap is
// exhausted. It is aligned to its size, rounded up to a power of two of 64 bytes to 256 KiB.
void* heap_allocate(TaskRecord& self, uint64_t bytes);

// Called in a task: frees a block of any task. Returns 0, or -EINVAL when `block` is no live block.
int heap_free(TaskRecord& self, void* block);

// Called in a task: gives a large block of its own, which no other task has seen yet, to the space.
// The block then stays until the space ends or a task frees it. Returns 0, or -EINVAL. (A task that
// dies in this call leaves some of its chunks taken.)
int heap_leave_to_space(TaskRecord& self, void* block);

// Returns the number of the task that owns the block, -1 when `address` is no part of the heap.
int64_t heap_owner(const SpaceHeap& heap, uint64_t address);

}  // namespace nagaya::task
