// SPDX-License-Identifier: BSD-3-Clause
// space_memory.h - the host's side of the structures in space.h: makes them, assigns task numbers,
// frees the memory of ended tasks.
#pragma once

#include <vector>

#include "base/fd.h"
#include "task/space/space.h"

namespace nagaya::task {

struct SpaceSettings {
  uint32_t expected_tasks = 0;        // of the job on this node; 0: not known
  uint32_t capacity = 0;              // most tasks alive at once; 0: from expected_tasks
  uint64_t heap_bytes = 16ull << 30;  // address space of the space heap
};

// Takes free addresses in the partition of a task that does not run yet. Returns the first one.
// Throws Error -ENOMEM when there are not enough.
uint64_t take_for_program(TaskRecord& task, uint64_t bytes, uint64_t alignment);

class SpaceMemory {
 public:
  // Throws Error -EINVAL when the address space has no room for the wanted number of tasks.
  explicit SpaceMemory(const SpaceSettings& settings);

  SpaceHeader& header() { return *header_; }

  // Returns true if a number is free, or will be with the next free_closed().
  bool has_free() { return !closed_.empty() || find_free(-1, 0) >= 0; }

  // Returns the record of a free number: `wanted` if that is free (-1: none is wanted), else the
  // lowest from `least` on, else the lowest. The record is reset and its partition empty. Throws
  // Error -EAGAIN when all numbers are taken.
  TaskRecord& open_record(int64_t wanted, uint32_t least = 0);

  // Returns true if a living task holds the ended task of `record`, and so may use its memory.
  bool is_held(const TaskRecord& record) const;

  // Records that the task of `record` has ended with `wait_status`, and wakes the waiters for its
  // names.
  void mark_ended(TaskRecord& record, int wait_status);

  // Queues the partition, the blocks and the number of an ended (or never started) task for
  // free_closed(). That call frees many at once, because every unmapping interrupts all processors
  // on which tasks of the space run.
  void close_record(TaskRecord& record) { closed_.push_back(record.number); }
  void free_closed();

 private:
  int64_t find_free(int64_t wanted, uint32_t least);

  std::vector<uint32_t> closed_;
  uint32_t maybe_free_ = 0;  // all numbers below are taken
  base::Mapping memory_;
  base::Mapping heap_memory_;
  base::Mapping holds_memory_;
  SpaceHeader* header_;
};

}  // namespace nagaya::task
