// SPDX-License-Identifier: BSD-3-Clause
// own_record.h - how a process finds out that it is a task.
#pragma once

#include <atomic>

#include "task/space/space.h"

namespace nagaya::task {

// The record of the calling task; nullptr outside of spaces and in a forked child of a task. The
// first call ends the process with 125 if its host is of another build, or if another copy of
// libnagaya in the process has made its first call before.
//
// Every function of the public headers calls own_record() before it acts for the task. Cost: one
// load after the first call. A vfork(2) child, which lives in its parent's memory, gets the
// parent's record.
TaskRecord* find_own_record();

// A page that the kernel clears in each forked child (MADV_WIPEONFORK), whichever call forked it. A
// handler of fork(3) would not do: _Fork() and clone(2) do not call it.
struct alignas(4096) WipedByFork {
  std::atomic<TaskRecord*> record;  // relaxed: found once, constant in the process
};
extern WipedByFork wiped_by_fork;

inline TaskRecord* own_record() {
  TaskRecord* const own = wiped_by_fork.record.load(std::memory_order_relaxed);
  return own != nullptr ? own : find_own_record();
}

}  // namespace nagaya::task
