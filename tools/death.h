// SPDX-License-Identifier: BSD-3-Clause
// death.h - prints the lines for a process of a job that has failed. It uses no C++ library,
// because the waiter, which has none, prints them, too: after another rank's death a launcher may
// end the waiter before it has become another program.
#pragma once

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "task/host/fault.h"
#include "task/host/frame.h"

namespace nagaya::tools {

struct Death {
  int rank;  // in its job; -1: the caller does not know it
  unsigned task;
  pid_t pid;
  int wait_status;  // as of waitpid(2)
  bool in_space;    // it was a task, not an ordinary process
};

// Writes the process's names: "rank 0 (task 4, process 9650)", and less where there is no rank or
// no task.
inline void name_process(const Death& death, char* text, size_t bytes) {
  if (death.rank < 0)
    snprintf(text, bytes, "task %u (process %d)", death.task, death.pid);
  else if (death.in_space)
    snprintf(text, bytes, "rank %d (task %u, process %d)", death.rank, death.task, death.pid);
  else
    snprintf(text, bytes, "rank %d (process %d)", death.rank, death.pid);
}

// Prints on standard error which process has failed and how, then `consequence`. After a fault of
// the program two more lines say how to find it. One write(2): lines of other processes come before
// or after, not in between.
inline void tell_of(const Death& death, const char* consequence) {
  char name[64], manner[128], text[1024];
  name_process(death, name, sizeof name);
  const int signal = WIFSIGNALED(death.wait_status) ? WTERMSIG(death.wait_status) : 0;
  if (signal != 0)
    snprintf(manner, sizeof manner, "was ended by signal %d (%s)", signal, strsignal(signal));
  else
    snprintf(manner, sizeof manner, "ended with exit code %d", WEXITSTATUS(death.wait_status));
  size_t bytes = static_cast<size_t>(
      snprintf(text, sizeof text, "nagaya: %s %s%s\n", name, manner, consequence));
  if (death.in_space && task::is_fault(death.wait_status))
    bytes += static_cast<size_t>(snprintf(
        text + bytes, sizeof text - bytes,
        "nagaya: a program of MPI: does it fail in ordinary processes, too? nagaya run --separate "
        "...\n"
        "nagaya: where does it fail? %s: nagaya gdb --core FILE\n",
        WCOREDUMP(death.wait_status) ? "see the core file that it has left"
                                     : "run it again after ulimit -c unlimited, then"));
  if (::write(STDERR_FILENO, text, bytes) < 0) return;  // nobody reads it
}

// Called by the proxy of a task that has ended, before the proxy ends. A launcher kills all proxies
// when one has ended: proxies of later faults wait, so that the first one has time to print.
inline void tell_of_fault(const task::Ended& end) {
  constexpr useconds_t kBehindTheFirstUs = 500'000;
  if (end.is_first_fault != 0)
    tell_of({-1, end.number, end.pid, end.wait_status, true}, "");
  else if (task::is_fault(end.wait_status))
    ::usleep(kBehindTheFirstUs);
}

}  // namespace nagaya::tools
