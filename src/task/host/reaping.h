// SPDX-License-Identifier: BSD-3-Clause
// reaping.h - the service of a reaper, the parent of a host and of its tasks. The program
// nagaya-reaper, which has no C++ library, includes this file.
//
//   reaper                                host
//   its pid                          ->                once it is in another session than the host
//   EndedChild {pid, wait status}    ->                the child is a zombie
//                                    <-   pid          the host has forgotten it: the reaper reaps it
//
// So the kernel uses no pid again under which the host may still send a signal. Each message is one
// packet, and at most one child is told and not yet reaped.
#pragma once

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nagaya::task {

struct EndedChild {
  int32_t pid;
  int32_t wait_status;  // as of waitpid(2)
};

// Finds a child that has ended, and leaves it a zombie. Returns false if there is none.
inline bool find_ended(idtype_t kind, pid_t pid, EndedChild& ended) {
  siginfo_t about{};
  if (::waitid(kind, static_cast<id_t>(pid), &about, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      about.si_pid == 0)
    return false;
  constexpr int kDumped = 0x80;
  const int signal = about.si_status | (about.si_code == CLD_DUMPED ? kDumped : 0);
  ended = {about.si_pid, about.si_code == CLD_EXITED ? W_EXITCODE(about.si_status, 0)
                                                     : W_EXITCODE(0, signal)};
  return true;
}

// Returns a signalfd for SIGCHLD, which is blocked; -1 if there is none.
inline int open_signals_of_children() {
  sigset_t ended;
  ::sigemptyset(&ended);
  ::sigaddset(&ended, SIGCHLD);
  return ::signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
}

// Reaps the children of this process, which blocks SIGCHLD, until `host`, one of them, has ended.
// Returns the host's wait status. The kernel kills the tasks when this process ends. A lost signal
// or a failed call delays an end by kLookPauseMs. The end of the host alone does not end the
// stream: a task that has not yet closed its copies of the host's descriptors keeps it open.
inline int reap_for(pid_t host, int socket) {
  constexpr int kLookPauseMs = 1000;
  const int signals = open_signals_of_children();
  const pid_t self = ::getpid();
  ::send(socket, &self, sizeof self, MSG_NOSIGNAL);
  for (pid_t told = 0;;) {
    pollfd ready[] = {{signals, POLLIN, 0}, {socket, POLLIN, 0}};
    ::poll(ready, 2, kLookPauseMs);
    signalfd_siginfo info;
    while (::read(signals, &info, sizeof info) == sizeof info) continue;
    EndedChild ended;
    if ((ready[1].revents & POLLHUP) != 0 || find_ended(P_PID, host, ended)) {
      int status = 0;
      ::waitpid(host, &status, 0);
      return status;
    }
    pid_t forgotten;
    if (told != 0 && ::recv(socket, &forgotten, sizeof forgotten, MSG_DONTWAIT) > 0) {
      ::waitpid(told, nullptr, WNOHANG);
      told = 0;
    }
    if (told == 0 && find_ended(P_ALL, 0, ended) &&
        ::send(socket, &ended, sizeof ended, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof ended)
      told = ended.pid;
  }
}

}  // namespace nagaya::task
