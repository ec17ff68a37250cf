// SPDX-License-Identifier: BSD-3-Clause
// fault.h - tells deaths by a fault of the program itself from deaths that another process caused.
#pragma once

#include <signal.h>
#include <sys/wait.h>

namespace nagaya::task {

// Returns true if a signal of a program fault ended the process. `wait_status`: from waitpid(2).
inline bool is_fault(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return false;
  switch (WTERMSIG(wait_status)) {
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT:
    case SIGSYS:
    case SIGTRAP:
      return true;
    default:
      return false;
  }
}

}  // namespace nagaya::task
