// SPDX-License-Identifier: BSD-3-Clause
// handmade_space.h - the structures of a space without a host: records and a heap of a chosen
// number of chunks, laid out as SpaceMemory does.
#pragma once

#include <new>

#include "base/fd.h"
#include "task/space/space.h"
#include "task/space/space_heap.h"

namespace nagaya::task {

class HandmadeSpace {
 public:
  explicit HandmadeSpace(uint32_t chunks = 64, uint32_t capacity = 8)
      : records_(base::reserve_memory(capacity * kRecordBytes, "records")),
        heap_memory_(base::reserve_memory((chunks + 2) * kChunkBytes, "heap")) {
    header_.stamp = {kMagic, kAbiMajor, kAbiMinor, sizeof(SpaceHeader), 0};
    header_.capacity = capacity;
    header_.records = records_.data();
    header_.heap = create_heap(heap_memory_);
    // Exactly as many chunks as asked for, whatever the alignment of the mapping left over.
    header_.heap->chunk_count = chunks;
    for (uint32_t number = 0; number < capacity; ++number) open(number);
  }

  SpaceHeader& header() { return header_; }
  SpaceHeap& heap() { return *header_.heap; }
  TaskRecord& task(uint32_t number) { return *header_.record(number); }

  // As the host does when a number is used anew.
  TaskRecord& open(uint32_t number) {
    const uint32_t generation = task(number).generation.load();
    auto* record = new (&task(number)) TaskRecord{};
    record->space = &header_;
    record->number = number;
    record->generation = generation + 1;
    record->state = TaskState::kRunning;
    return *record;
  }

  uint32_t free_chunks() const {
    return chunks_with([](uint64_t owner) { return owner == 0; });
  }
  uint32_t chunks_of(uint32_t number) const {
    return chunks_with([=](uint64_t owner) { return static_cast<uint32_t>(owner) == number + 1; });
  }

 private:
  template <class Test>
  uint32_t chunks_with(Test test) const {
    uint32_t found = 0;
    for (uint32_t n = 0; n < header_.heap->chunk_count; ++n)
      if (test(header_.heap->chunks[n].owner.load())) ++found;
    return found;
  }

  base::Mapping records_;
  base::Mapping heap_memory_;
  SpaceHeader header_{};
};

}  // namespace nagaya::task
