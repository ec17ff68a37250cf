// SPDX-License-Identifier: BSD-3-Clause
#include "task/load/freestanding/start.h"

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>

#include "task/load/freestanding/stop_point.h"

#ifndef F_DUPFD
#define F_DUPFD 0
#endif

namespace nagaya::task {
namespace {

using arch::raw_syscall;

constexpr int kCannotStart = 125;  // exit status of a task that never reached its program

// The kernel's struct sigaction, which differs from libc's.
struct KernelSigaction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  uint64_t mask;
};

[[noreturn]] void give_up(const Start& start, StartStep step, long error) {
  start.task->start_step.store(static_cast<uint32_t>(step), std::memory_order_relaxed);
  // Release: pairs with the host's acquire when it has seen the end of the task.
  start.task->start_error.store(static_cast<int32_t>(-error), std::memory_order_release);
  for (;;) raw_syscall(__NR_exit_group, kCannotStart);
}

void check(const Start& start, StartStep step, long result) {
  if (result < 0 && result > -4096) give_up(start, step, result);
}

void set_handlers(const Start& start) {
  for (int signal = 1; signal <= kSignalsMax; ++signal) {
    const bool ignored = (start.inherit->ignored_signals >> (signal - 1) & 1) != 0;
    if (!ignored && start.reset_handlers == 0) continue;
    const KernelSigaction action{ignored ? SIG_IGN : SIG_DFL, 0, nullptr, 0};
    raw_syscall(__NR_rt_sigaction, signal, &action, nullptr, sizeof(uint64_t));
  }
}

// Asks the kernel to kill the task when its parent, the reaper, ends; fails if it has ended
// already.
void die_with_parent(const Start& start) {
  check(start, StartStep::kParentDeath, raw_syscall(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL));
  if (raw_syscall(__NR_getppid) != start.parent_pid)
    give_up(start, StartStep::kParentDeath, -ESRCH);
}

// Joins the proxy's process group, so that the launcher's killpg and terminal stops reach the task.
// A group of another session cannot be joined; then the proxy forwards every signal.
void join_process_group(const Start& start) {
  const int group = start.inherit->process_group;
  if (group == 0 || raw_syscall(__NR_setpgid, 0, group) != 0) raw_syscall(__NR_setpgid, 0, 0);
}

// Called before move `n`: if another descriptor to be moved still has the number wanted for it,
// moves that one to a free number above.
void make_way(const Start& start, uint32_t n) {
  const int wanted = start.moves[n].to;
  for (uint32_t other = n + 1; other < start.move_count; ++other) {
    DescriptorMove& move = start.moves[other];
    if (move.from != wanted) continue;
    const long moved = raw_syscall(__NR_fcntl, move.from, F_DUPFD, wanted + 1);
    check(start, StartStep::kDescriptors, moved);
    move.from = static_cast<int32_t>(moved);
  }
}

// Closes the descriptors `first` to `last`, one by one where close_range is missing (before
// Linux 5.9) or refused by a filter.
void close_all(int first, unsigned last) {
  constexpr unsigned kMost = 65535;
  if (raw_syscall(__NR_close_range, first, last, 0) == 0) return;
  for (int fd = first; static_cast<unsigned>(fd) <= std::min(last, kMost); ++fd)
    raw_syscall(__NR_close, fd);
}

// Moves every descriptor to its number: first all of them above all wanted numbers, then each down
// to its own. Near the descriptor limit there may be no room above; then make_way() moves a
// descriptor that occupies the next wanted number.
void place_descriptors(const Start& start) {
  const int above = start.move_count == 0 ? 0 : start.moves[start.move_count - 1].to + 1;
  bool crowded = false;
  for (uint32_t n = 0; n < start.move_count; ++n) {
    DescriptorMove& move = start.moves[n];
    if (move.from >= above) continue;
    const long moved = raw_syscall(__NR_fcntl, move.from, F_DUPFD, above);
    crowded = crowded || moved < 0;
    if (moved >= 0) move.from = static_cast<int32_t>(moved);
  }
  for (uint32_t n = 0; n < start.move_count; ++n) {
    const DescriptorMove& move = start.moves[n];
    if (crowded) make_way(start, n);
    if (move.from == move.to)
      check(start, StartStep::kDescriptors, raw_syscall(__NR_fcntl, move.to, F_SETFD, 0));
    else
      check(start, StartStep::kDescriptors, raw_syscall(__NR_dup3, move.from, move.to, 0));
  }
  int next_to_close = 0;
  for (uint32_t n = 0; n < start.move_count; ++n) {
    const DescriptorMove& move = start.moves[n];
    if (next_to_close < move.to) close_all(next_to_close, move.to - 1);
    next_to_close = move.to + 1;
  }
  close_all(next_to_close, ~0u);
}

void take_limits(const Start& start) {
  for (int n = 0; n < kLimits; ++n) {
    rlimit limit = start.inherit->limits[n];
    // These count the whole space, not the task.
    if (n == RLIMIT_AS || n == RLIMIT_DATA) limit = {limit.rlim_max, limit.rlim_max};
    raw_syscall(__NR_prlimit64, 0, n, &limit, nullptr);
  }
}

// Where one is refused, the task goes on with the host's.
void take_priorities(const Inheritance& inherit) {
  const sched_param parameters{inherit.scheduling_priority};
  raw_syscall(__NR_sched_setscheduler, 0, inherit.scheduling_policy, &parameters);
  raw_syscall(__NR_setpriority, PRIO_PROCESS, 0, inherit.nice);
  raw_syscall(__NR_ioprio_set, kIoPriorityOfProcess, 0, inherit.io_priority);
}

}  // namespace

const char* to_string(StartStep step) {
  switch (step) {
    case StartStep::kParentDeath:
      return "tie its life to the host";
    case StartStep::kDirectory:
      return "enter the working directory";
    case StartStep::kDescriptors:
      return "place the descriptors";
    case StartStep::kMemoryPolicy:
      return "set the memory policy";
    case StartStep::kBinding:
      break;
  }
  return "bind to processors";
}

void run_start(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  const Inheritance& inherit = *start.inherit;
  stop_at(StopPoint::kTaskCloned);
  set_handlers(start);
  die_with_parent(start);
  stop_at(StopPoint::kTaskTied);
  join_process_group(start);
  check(start, StartStep::kDirectory, raw_syscall(__NR_fchdir, start.directory_fd));
  raw_syscall(__NR_umask, inherit.umask);
  place_descriptors(start);
  stop_at(StopPoint::kTaskDescriptors);
  if (inherit.memory_policy != MPOL_DEFAULT)
    check(start, StartStep::kMemoryPolicy,
          raw_syscall(__NR_set_mempolicy, inherit.memory_policy, inherit.node_mask,
                      kNodeMaskWords * 64));
  if (inherit.cpu_mask_bytes != 0)
    check(start, StartStep::kBinding,
          raw_syscall(__NR_sched_setaffinity, 0, inherit.cpu_mask_bytes, inherit.cpu_mask));
  take_limits(start);
  take_priorities(inherit);
  raw_syscall(__NR_prctl, PR_SET_NAME, start.name);
  TaskRecord& task = *start.task;
  task.pid.store(static_cast<int32_t>(raw_syscall(__NR_getpid)), std::memory_order_relaxed);
  task.state.store(TaskState::kRunning, std::memory_order_release);
  raw_syscall(__NR_rt_sigprocmask, SIG_SETMASK, &inherit.signal_mask, nullptr, sizeof(uint64_t));
  stop_at(StopPoint::kTaskEntering);
  nagaya_arch_enter(start.entry, start.stack_pointer);
}

}  // namespace nagaya::task
