// SPDX-License-Identifier: BSD-3-Clause
// fixed_mapping.h - mappings at addresses of the program's choice outside of all partitions: two
// tasks that choose the same would overwrite each other. Freestanding (redirect.h).
//
//   each task      its list of them, in its record: written under the partition's lock, read by all
//   a new mapping  is entered first, and refused if a living task's list then has something there.
//                  So of two tasks at once one sees the other, or both do.
//
// A mapping that finds no room in the list is not known to others. Death: a dead task's list counts
// for nothing; what it has mapped is replaced as by any MAP_FIXED.
#pragma once

#include "task/load/freestanding/partition.h"

namespace nagaya::task {

// The list has [begin, end). False: it had it before, or has no room.
bool enter_fixed(TaskRecord& task, uint64_t begin, uint64_t end);

// The mappings in [begin, end) are gone.
void leave_fixed(TaskRecord& task, uint64_t begin, uint64_t end);

// The mapping that begins there, of whatever length, is gone.
void leave_fixed_at(TaskRecord& task, uint64_t begin);

// Whether another task has something in [begin, end). Says so, once in a space. False in a forked
// child, whose memory is its own.
bool is_fixed_by_other(const TaskRecord& task, uint64_t begin, uint64_t end);

// Maps by call() at [begin, end), outside of all partitions, unless another task has something
// there: then -EPERM, or if the call `fails_itself` there, what it returns.
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
