// SPDX-License-Identifier: BSD-3-Clause
#include "task/host/host_process.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <cstdio>
#include <cstring>

#include "arch/arch.h"
#include "base/error.h"
#include "task/load/freestanding/start.h"
#include "task/space/space.h"

namespace nagaya::task {
void guard_the_break() {
  const uint64_t page = kPageBytes;
  const uint64_t above = (reinterpret_cast<uint64_t>(::sbrk(0)) + page - 1) & ~(page - 1);
  void* guard = ::mmap(reinterpret_cast<void*>(above), page, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (guard != reinterpret_cast<void*>(above)) base::throw_errno("cannot guard the break");
}

void unignore_signals() {
  for (int signal = 1; signal <= kSignalsMax; ++signal) {
    const struct {
      void (*handler)(int);
      unsigned long flags;
      void (*restorer)();
      uint64_t mask;
    } by_default{SIG_DFL, 0, nullptr, 0};
    arch::raw_syscall(__NR_rt_sigaction, signal, &by_default, nullptr, sizeof(uint64_t));
  }
}

void reset_affinity_and_limits() {
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  ::sched_setaffinity(0, sizeof all, &all);
  // Soft limits only: a lowered hard limit could not be raised again in a task.
  rlimit limit;
  for (const auto resource : {RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_DATA}) {
    ::getrlimit(resource, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(resource, &limit);
  }
  ::getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = 0;
  ::setrlimit(RLIMIT_CORE, &limit);
}

void forbid_core_dumps_on_old_kernels() {
  utsname about{};
  unsigned version = 0, part = 0;
  ::uname(&about);
  std::sscanf(about.release, "%u.%u", &version, &part);
  if (version < 5 || (version == 5 && part < 16)) ::prctl(PR_SET_DUMPABLE, 0);
}

}  // namespace nagaya::task
