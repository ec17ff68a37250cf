// SPDX-License-Identifier: BSD-3-Clause
// own_record.h - how a process finds out that it is a task.
#pragma once

#include <atomic>

#include "task/space/space.h"

namespace nagaya::task {

// The record of the calling task; nullptr outside of spaces, in a forked child of a task, and
// when the space was made by an installation of another ABI.
//
// Every function of the public headers asks this before it acts for the task. Cost: one load, once
// it has been found. A child by vfork(2), which lives in its parent's memory, gets its parent's.
TaskRecord* find_own_record();

// A page that the kernel clears in each forked child, by whatever call it was forked
// (MADV_WIPEONFORK): no handler of fork(3), which _Fork() and clone(2) do not call.
struct alignas(4096) WipedByFork {
  std::atomic<TaskRecord*> record;  // relaxed: found once, constant in the process
};
extern WipedByFork wiped_by_fork;

inline TaskRecord* own_record() {
  TaskRecord* const own = wiped_by_fork.record.load(std::memory_order_relaxed);
  return own != nullptr ? own : find_own_record();
}

}  // namespace nagaya::task
