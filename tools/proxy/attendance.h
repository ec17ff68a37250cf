// SPDX-License-Identifier: BSD-3-Clause
// attendance.h - a proxy's service to its task from its start to its end: it forwards signals,
// watches its launcher, and ends as the task ends. Two programs do so, one after the other in one
// process:
//
//   nagaya exec ──exec──► nagaya-waiter ──exec──► nagaya attend
//   starts the task       waits                   after an error: prints it
//
// The waiter is a small static program, because a proxy waits for as long as its task runs: 0.4 MB
// of libraries, 240 times on a node, were most of what a job cost beside its tasks. This file
// uses no C++ library: the waiter has none.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proxy/take_stop.h"

namespace nagaya::tools {

// The state that the programs hand on by exec. All signals to be forwarded are blocked.
struct Attendance {
  int socket;    // to the host
  int signals;   // a signalfd of the signals to be forwarded
  int launcher;  // readable once the launcher has ended; -1: none is watched
  uint32_t task;
  pid_t pid;                // the task's
  bool signals_groups;      // the launcher signals whole process groups
  const char* socket_path;  // where the host listens
  const char* tool;         // the path of `nagaya`
};

// An Attendance as words of a command line.
inline constexpr int kAttendanceWords = 8;
inline Attendance attendance_of(char** words) {
  const auto number = [words](int n) { return static_cast<int>(strtol(words[n], nullptr, 10)); };
  return {number(0), number(1),      number(2), static_cast<uint32_t>(number(3)),
          number(4), number(5) != 0, words[6],  words[7]};
}

// Ends this process as `wait_status` (of waitpid(2)) says: the same code, or the same signal.
[[noreturn]] inline void end_like(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    const rlimit no_core{0, 0};  // the task has left one, if one was wanted
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(signal, SIG_DFL);
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, signal);
    ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
    ::raise(signal);
    ::_exit(128 + signal);
  }
  ::_exit(WEXITSTATUS(wait_status));
}

// Returns true if the task has got this signal without the proxy. A task in the proxy's process
// group gets the signals of the terminal (sent by the kernel to the foreground group) and those of
// a launcher (killpg). Timers of the proxy (alarm(2), which survives execve) are its own.
inline bool reached_group(const signalfd_siginfo& info, bool in_group, pid_t launcher) {
  if (!in_group) return false;
  const auto signal = static_cast<int>(info.ssi_signo);
  const bool is_of_timer = signal == SIGALRM || signal == SIGVTALRM || signal == SIGPROF;
  return (info.ssi_code == SI_KERNEL && !is_of_timer) ||
         (launcher > 1 && info.ssi_pid == static_cast<uint32_t>(launcher));
}

// Reads all pending signals, and calls send(signal), which hands it to the host, for each one that
// the task has not got by itself.
template <class Send>
void forward(const Attendance& own, Send send) {
  signalfd_siginfo info;
  while (::read(own.signals, &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    const bool in_group = ::getpgid(own.pid) == ::getpgrp();
    if (!reached_group(info, in_group, own.signals_groups ? ::getppid() : 0)) send(signal);
    // The launcher or shell watches this process: it must be seen to stop as the task does.
    if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) take_stop(signal);
  }
}

}  // namespace nagaya::tools
