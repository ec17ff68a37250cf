// SPDX-License-Identifier: BSD-3-Clause
// shared_table.h - the beginning of every table of this floor, and the source of its memory.
//
// A table is plain data without pointers: where it lies does not matter. It is written by one task
// before any other can see it, and never changed after that.
#pragma once

#include <algorithm>
#include <cstdint>

#include "task/space/space.h"
#include "task/space/space_heap.h"

namespace nagaya::processes {

inline constexpr uint32_t kNoSlot = UINT32_MAX;
inline constexpr uint64_t kTableAlignment = 64;  // of the blocks that Memory allocates

struct SharedTable {
  enum class Kind : uint32_t { kNodes = 1, kRanks };

  task::Stamp stamp;
  Kind kind;
  uint32_t slot;     // in the TableIndex; kNoSlot: in none, one task alone has the table
  uint64_t content;  // a hash of the table's content
  uint64_t bytes;

  // Whether the table has the layout of the caller's build. Each copy of the library checks it
  // before any other use. `size`: of the structure of that kind.
  bool matches(Kind expected, uint32_t size) const {
    return stamp.matches(size) && kind == expected;
  }
};

// The memory of tables, as one task sees it. Private to the task: holds function pointers.
struct Memory {
  void* context;
  void* (*allocate)(void* context, uint64_t bytes);  // nullptr: exhausted
  void (*free)(void* context, void* block);          // a block of any task
};

inline Memory space_heap_of(task::TaskRecord& self) {
  return {&self,
          [](void* task, uint64_t bytes) {
            return task::heap_allocate(*static_cast<task::TaskRecord*>(task), bytes);
          },
          [](void* task, void* block) {
            task::heap_free(*static_cast<task::TaskRecord*>(task), block);
          }};
}

// Memory for tables that outlive the task that makes them: each block takes a chunk of the space
// heap or more.
inline Memory lasting_memory_of(task::TaskRecord& self) {
  Memory memory = space_heap_of(self);
  memory.allocate = [](void* task, uint64_t bytes) -> void* {
    auto& record = *static_cast<task::TaskRecord*>(task);
    void* block = task::heap_allocate(record, std::max(bytes, task::kHeapBlockMaxBytes + 1));
    if (block != nullptr) task::heap_leave_to_space(record, block);
    return block;
  };
  return memory;
}

// A hash of a sequence of numbers. (The multiplier is the golden ratio's, the shifts are those of
// splitmix64's finish.)
class ContentHash {
 public:
  void add(uint64_t number) {
    state_ = (state_ ^ number) * 0x9e3779b97f4a7c15;
    state_ ^= state_ >> 29;
  }
  uint64_t value() const { return state_ ^ state_ >> 32; }

 private:
  uint64_t state_ = 0x6e6167617961;
};

}  // namespace nagaya::processes
