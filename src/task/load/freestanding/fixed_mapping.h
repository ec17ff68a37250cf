// SPDX-License-Identifier: BSD-3-Clause
// fixed_mapping.h - mappings at addresses of the program's choice outside of all partitions. Keeps
// two tasks that choose the same address from overwriting each other. Freestanding (redirect.h).
//
//   each task      lists its fixed mappings in its record. The task writes the list under the
//                  partition's lock; all tasks read it
//   a new mapping  is entered first, then refused if a living task's list overlaps it. If two
//                  tasks map at once, one or both see the other's entry.
//
// A mapping that finds no room in the list is unknown to other tasks. Death: a dead task's list is
// ignored; its mappings are replaced as by any MAP_FIXED.
#pragma once

#include "task/load/freestanding/partition.h"

namespace nagaya::task {

// Enters [begin, end) into the task's list. Returns false if one entry holds it already, if there
// is no room, or if the partition's lock was not taken (LockedRanges).
bool enter_fixed(TaskRecord& task, uint64_t begin, uint64_t end);

// Removes [begin, end) from the task's list, after the task has unmapped it.
void leave_fixed(TaskRecord& task, uint64_t begin, uint64_t end);

// Removes the entry that begins at `begin`, of any length, from the task's list.
void leave_fixed_at(TaskRecord& task, uint64_t begin);

// Returns true if another task has a fixed mapping in [begin, end). Prints a message the first time
// in a space. Returns false in a forked child, which has its own memory.
bool is_fixed_by_other(const TaskRecord& task, uint64_t begin, uint64_t end);

// Maps by call() at [begin, end), outside of all partitions. Returns -EPERM if another task has a
// fixed mapping there; if call() never overwrites mappings (`fails_itself`), returns its own error.
template <class Call>
long map_at_fixed(TaskRecord& task, uint64_t begin, uint64_t end, bool fails_itself, Call call) {
  const bool is_new = enter_fixed(task, begin, end);
  const bool is_others = is_fixed_by_other(task, begin, end);
  const long result = is_others && !fails_itself ? -EPERM : call();
  if (failed(result) && is_new) leave_fixed(task, begin, end);
  if (!failed(result)) task.escaped.fetch_add(1, std::memory_order_relaxed);
  return result;
}

}  // namespace nagaya::task
