// SPDX-License-Identifier: BSD-3-Clause
// start.h - the first steps of a task: between its clone and the jump into its program.
//
// The clone runs on the task's own stack, but still has the host thread's thread pointer, a copy
// of the host's descriptors and the host's signal mask (all signals blocked). Only raw system
// calls are legal here.
#pragma once

#include <sys/resource.h>

#include "task/space/space.h"

namespace nagaya::task {

inline constexpr int kLimits = 16;              // RLIM_NLIMITS
inline constexpr int kSignalsMax = 64;          // signals 1 .. 64
inline constexpr int kNodeMaskWords = 16;       // 1024 memory nodes
inline constexpr int kCpuMaskWords = 128;       // 8192 processors
inline constexpr int kIoPriorityOfProcess = 1;  // IOPRIO_WHO_PROCESS

// The state that a task inherits from its proxy. Plain data: the proxy fills it in and sends it
// as it is.
struct Inheritance {
  uint64_t signal_mask;  // bit n-1: signal n
  uint64_t ignored_signals;
  uint64_t cpu_mask[kCpuMaskWords];
  uint64_t node_mask[kNodeMaskWords];
  rlimit limits[kLimits];
  uint32_t cpu_mask_bytes;
  int32_t memory_policy;  // MPOL_*
  uint32_t umask;
  int32_t nice;
  int32_t scheduling_policy;  // SCHED_*; those with parameters of their own (deadline) are left out
  int32_t scheduling_priority;
  int32_t io_priority;    // as of ioprio_get(2)
  int32_t process_group;  // to join if it is in the host's session; 0: a new one
};

// The steps that can fail, in order. The host's message about a failed start names the step.
enum class StartStep : uint32_t {
  kParentDeath,
  kDirectory,
  kDescriptors,
  kMemoryPolicy,
  kBinding,
};
const char* to_string(StartStep step);

struct DescriptorMove {
  int32_t from;  // in the copy of the host's table
  int32_t to;    // the number that the program expects
};

// The input of one start. Lies in the host's memory until the task has ended.
struct Start {
  TaskRecord* task;
  const Inheritance* inherit;
  DescriptorMove* moves;  // ascending in `to`; `from` is overwritten
  uint32_t move_count;
  int32_t directory_fd;
  int32_t parent_pid;
  uint32_t reset_handlers;  // nonzero: clone had no CLONE_CLEAR_SIGHAND
  char name[16];            // for PR_SET_NAME
  uintptr_t entry;
  uintptr_t stack_pointer;
};

// The function that the clone runs; `start` is a Start. A failed step ends the task with status 125
// and leaves its error in the record.
void run_start(void* start);

}  // namespace nagaya::task
