// SPDX-License-Identifier: BSD-3-Clause
// space_memory.h - the host's side of the structures in space.h: makes them, hands out task
// numbers, frees what a task leaves behind.
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

// Takes free addresses of the partition of a task that does not run yet. Throws Error -ENOMEM when
// there are none.
uint64_t take_for_program(TaskRecord& task, uint64_t bytes, uint64_t alignment);

class SpaceMemory {
 public:
  // Throws Error -EINVAL when more tasks are asked for than the address space has room for.
  explicit SpaceMemory(const SpaceSettings& settings);

  SpaceHeader& header() { return *header_; }

  // Whether a number is free, or about to be (close_record).
  bool has_free() { return !closed_.empty() || find_free(-1) >= 0; }

  // A free number (`wanted`, if that is free; -1: the lowest), its record reset and its partition
  // empty. Throws Error -EAGAIN when all numbers are taken.
  TaskRecord& open_record(int64_t wanted);

  // Whether a living task may still use what the ended task of `record` has left.
  bool is_held(const TaskRecord& record) const;

  // The task of `record` has ended with `wait_status`: wakes those who wait for its names.
  void mark_ended(TaskRecord& record, int wait_status);

  // The partition, the blocks and the number of an ended (or never started) task are to be freed:
  // by free_closed(), together with others, since every unmapping interrupts all processors on
  // which tasks of the space run.
  void close_record(TaskRecord& record) { closed_.push_back(record.number); }
  void free_closed();

 private:
  int64_t find_free(int64_t wanted);

  std::vector<uint32_t> closed_;
  uint32_t maybe_free_ = 0;  // all numbers below are taken
  base::Mapping memory_;
  base::Mapping heap_memory_;
  base::Mapping holds_memory_;
  SpaceHeader* header_;
};

}  // namespace nagaya::task
