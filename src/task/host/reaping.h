// SPDX-License-Identifier: BSD-3-Clause
// reaping.h - the service of a reaper, the parent of a host and of its tasks. The program
// nagaya-reaper, which has no C++ library, includes this file.
//
//   reaper                                   host
//   its pid                             ->             once it is in another session than the host
//   SIGCHLD                             ->             children have ended
//                                       <-   a byte    which?
//   EndedChildren                       ->             the reaper has reaped them
//
// The reaper reaps only while a question is open, and the host sends signals and starts tasks only
// while none is, or waits for the answer: so it sends no signal to a pid that the kernel uses
// again. Each message is one packet.
#pragma once

#include <errno.h>
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

inline constexpr uint32_t kEndedMax = 64;  // in one message
struct EndedChildren {
  uint32_t count;
  EndedChild children[kEndedMax];
};

// Reaps a child that has ended. Returns false if there is none.
inline bool reap_child(idtype_t kind, pid_t pid, EndedChild& child) {
  siginfo_t about{};
  if (::waitid(kind, static_cast<id_t>(pid), &about, WEXITED | WNOHANG) != 0 || about.si_pid == 0)
    return false;
  constexpr int kDumped = 0x80;
  const int signal = about.si_status | (about.si_code == CLD_DUMPED ? kDumped : 0);
  child = {about.si_pid,
           about.si_code == CLD_EXITED ? W_EXITCODE(about.si_status, 0) : W_EXITCODE(0, signal)};
  return true;
}

// Returns a signalfd for SIGCHLD, which is blocked; -1 if there is none.
inline int open_signals_of_children() {
  sigset_t ended;
  ::sigemptyset(&ended);
  ::sigaddset(&ended, SIGCHLD);
  return ::signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
}

// Reaps ended children, and sends them to the host. Returns true if the host is one of them.
inline bool answer_host(pid_t host, int socket, EndedChild& host_end) {
  EndedChildren ended{};
  while (ended.count < kEndedMax && reap_child(P_ALL, 0, host_end)) {
    if (host_end.pid == host) return true;
    ended.children[ended.count++] = host_end;
  }
  while (::send(socket, &ended, sizeof ended, MSG_NOSIGNAL) < 0 && errno != EPIPE) ::usleep(1000);
  return false;
}

// Reaps the children of this process, which blocks SIGCHLD, until `host`, one of them, has ended.
// Returns the host's wait status. The kernel kills the tasks when this process ends.
//
// The end of the stream is no sign of the host's end: a task that has just been cloned has copies
// of the host's descriptors. If a signal is lost, the reaper finds that end after kLookPauseMs.
inline int reap_for(pid_t host, int socket) {
  constexpr int kLookPauseMs = 1000;
  const int signals = open_signals_of_children();
  const pid_t self = ::getpid();
  ::send(socket, &self, sizeof self, MSG_NOSIGNAL);
  for (;;) {
    pollfd ready[] = {{signals, POLLIN, 0}, {socket, POLLIN, 0}};
    ::poll(ready, 2, kLookPauseMs);
    signalfd_siginfo info;
    if (::read(signals, &info, sizeof info) == sizeof info) ::kill(host, SIGCHLD);
    EndedChild host_end;
    if (reap_child(P_PID, host, host_end)) return host_end.wait_status;
    char question;
    if (::recv(socket, &question, sizeof question, MSG_DONTWAIT) == sizeof question &&
        answer_host(host, socket, host_end))
      return host_end.wait_status;
    if ((ready[1].revents & POLLHUP) != 0) socket = -1;  // the host is about to end
  }
}

}  // namespace nagaya::task
