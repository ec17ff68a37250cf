// SPDX-License-Identifier: BSD-3-Clause
// own_reaper.h - gives a test's process the reaper that a host needs.
#pragma once

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "task/host/reaper.h"

namespace nagaya {

// Ends as the process of this wait status.
[[noreturn]] inline void end_as(int wait_status) {
  if (WIFEXITED(wait_status)) ::_exit(WEXITSTATUS(wait_status));
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(WTERMSIG(wait_status), SIG_DFL);
  ::raise(WTERMSIG(wait_status));
  ::_exit(128 + WTERMSIG(wait_status));
}

// Forks this process, and returns in the child. The parent becomes its reaper, and ends as it ends.
inline base::Fd fork_under_reaper() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    base::throw_errno("socketpair");
  base::Fd of_reaper(ends[0]), of_host(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) base::throw_errno("fork");
  if (pid == 0) return of_host;
  of_host.reset();
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  end_as(task::reap_for(pid, of_reaper.get()));
}

// The first call must come before this process starts threads.
inline task::Reaper& own_reaper() {
  static task::Reaper reaper(fork_under_reaper());
  return reaper;
}

}  // namespace nagaya
