// SPDX-License-Identifier: BSD-3-Clause
#include "task/host/inheritance.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <ios>
#include <string>

#include "arch/arch.h"
#include "base/error.h"

namespace nagaya::task {
namespace {

// Returns the ignored signals (bit n-1: signal n). Uses the bare system call: 64 calls of libc were
// a fifth of a creator's time per task.
uint64_t ignored_signals() {
  uint64_t ignored = 0;
  for (int signal = 1; signal <= kSignalsMax; ++signal) {
    struct {
      void (*handler)(int);
      uint64_t rest[3];
    } action;
    if (arch::raw_syscall(__NR_rt_sigaction, signal, nullptr, &action, sizeof(uint64_t)) == 0 &&
        action.handler == SIG_IGN)
      ignored |= uint64_t{1} << (signal - 1);
  }
  return ignored;
}

// Returns the umask. Reads it from /proc where the kernel shows it: umask(2) must change it for a
// moment, in which another thread could make a file.
mode_t own_umask() {
  std::ifstream status("/proc/thread-self/status");
  for (std::string word; status >> word;) {
    unsigned mask;
    if (word == "Umask:" && status >> std::oct >> mask) return mask;
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mask;
}

}  // namespace

Inheritance inherit_from_this_process() {
  Inheritance inherit{};
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &inherit.signal_mask, sizeof(uint64_t));
  inherit.ignored_signals = ignored_signals();
  const long mask_bytes =
      ::syscall(SYS_sched_getaffinity, 0, sizeof inherit.cpu_mask, inherit.cpu_mask);
  inherit.cpu_mask_bytes = mask_bytes > 0 ? static_cast<uint32_t>(mask_bytes) : 0;
  if (::syscall(SYS_get_mempolicy, &inherit.memory_policy, inherit.node_mask, kNodeMaskWords * 64,
                nullptr, 0) != 0)
    inherit.memory_policy = MPOL_DEFAULT;
  for (int n = 0; n < kLimits; ++n)
    ::getrlimit(static_cast<__rlimit_resource>(n), &inherit.limits[n]);
  inherit.umask = own_umask();
  inherit.nice = ::getpriority(PRIO_PROCESS, 0);
  inherit.scheduling_policy = ::sched_getscheduler(0);
  sched_param parameters{};
  ::sched_getparam(0, &parameters);
  inherit.scheduling_priority = parameters.sched_priority;
  inherit.io_priority = static_cast<int32_t>(::syscall(SYS_ioprio_get, kIoPriorityOfProcess, 0));
  inherit.process_group = ::getpgrp();
  return inherit;
}

std::vector<int> inheritable_descriptors() {
  std::vector<int> all;
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) base::throw_errno("/proc/self/fd");
  while (const dirent* entry = ::readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] == '.' || fd == ::dirfd(folder)) continue;
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) all.push_back(fd);
  }
  ::closedir(folder);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace nagaya::task
