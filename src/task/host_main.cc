// SPDX-License-Identifier: BSD-3-Clause
// host_main.cc - the program nagaya-host. Started by a client (client.cc) with its listening
// socket as descriptor 3 and a pipe with HostSettings as descriptor 4.
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "task/host.h"

namespace {

using namespace nagaya;

// There is one program break per address space, and every libc believes that it owns it. With the
// page above it taken, every growth fails and every malloc falls back to mmap.
void guard_the_break() {
  const uint64_t page = task::kPageBytes;
  const uint64_t above = (reinterpret_cast<uint64_t>(::sbrk(0)) + page - 1) & ~(page - 1);
  void* guard = ::mmap(reinterpret_cast<void*>(above), page, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (guard != reinterpret_cast<void*>(above)) base::throw_errno("cannot guard the break");
}

// posix_spawn leaves libc's two internal signals ignored, which every task would inherit (only
// handlers are reset by a clone); libc's own sigaction does not touch them.
void unignore_signals() {
  for (int signal = 1; signal <= task::kSignalsMax; ++signal) {
    const struct {
      void (*handler)(int);
      unsigned long flags;
      void (*restorer)();
      uint64_t mask;
    } by_default{SIG_DFL, 0, nullptr, 0};
    arch::raw_syscall(__NR_rt_sigaction, signal, &by_default, nullptr, sizeof(uint64_t));
  }
}

// Tasks bring their own binding and limits; the host needs every processor and many descriptors.
void shed_inherited_limits() {
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  ::sched_setaffinity(0, sizeof all, &all);
  // Soft limits only: a lowered hard limit could not be raised again in a task.
  rlimit limit;
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = 0;
  ::setrlimit(RLIMIT_CORE, &limit);
}

}  // namespace

int main() {
  try {
    guard_the_break();
    ::close_range(task::kHostSettingsFd + 1, ~0u, 0);
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    unignore_signals();
    shed_inherited_limits();
    task::HostSettings settings{};
    base::Fd pipe(task::kHostSettingsFd);
    if (::read(pipe.get(), &settings, sizeof settings) != sizeof settings ||
        !settings.stamp.matches(sizeof settings)) {
      std::fprintf(stderr, "nagaya-host: started by nagaya only\n");
      return 125;
    }
    pipe.reset();
    task::Host(settings, base::Fd(task::kHostListenerFd)).run();
    return 0;
  } catch (const base::Error& error) {
    std::fprintf(stderr, "nagaya-host: %s\n", error.what());
    return 125;
  }
}
