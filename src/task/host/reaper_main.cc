// SPDX-License-Identifier: BSD-3-Clause
// reaper_main.cc - the program nagaya-reaper, which a client (host_start.cc) starts with the
// descriptors for nagaya-host, and the path of that program:
//
//   client ──spawns──► first process ──forks──► reaper ──forks──► host
//                      ends at once             in a session      in the client's session
//                                               of its own
//
// The reaper has no parent among the job's processes, and so the host has none: signals of a
// launcher or a terminal to a proxy's descendants must not reach it.
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>

#include "task/host/host_settings.h"
#include "task/host/reaping.h"

namespace nagaya::task {
namespace {

constexpr rlim_t kStackMaxBytes = 8 << 20;  // of the host

// Sends the error to the starter in place of the host's pid, and ends this process.
[[noreturn]] void refuse_starter(const char* what) {
  struct {
    int32_t code;
    char text[256];
  } said{-errno, {}};
  const int bytes = snprintf(said.text, sizeof said.text, "%s: %s", what, strerror(errno));
  const size_t shown = bytes < 0 ? 0 : strnlen(said.text, sizeof said.text);
  ::send(kHostSettingsFd, &said, offsetof(decltype(said), text) + shown, MSG_NOSIGNAL);
  ::_exit(125);
}

pid_t fork_or_refuse() {
  const pid_t pid = ::fork();
  if (pid < 0) refuse_starter("fork");
  return pid;
}

// Lets the next program of this process have no memory below the program break. There is one break
// per address space, and every libc believes that it owns it: a task that lowers it (UCX does, to
// test its hooks) would unmap the host's memory there. While the soft RLIMIT_DATA is 0, brk fails
// and mmap does not (the kernel allows that for valgrind's sake).
//
// Lets it lie above kSpaceEnd: with a large or unlimited stack the kernel would put its libraries
// and mappings (mmap_base) where the partitions of the tasks are. Tasks have a limit of their own
// for the stack.
void prepare_memory_of_host() {
  rlimit limit{};
  ::getrlimit(RLIMIT_STACK, &limit);
  if (limit.rlim_cur > kStackMaxBytes) limit.rlim_cur = kStackMaxBytes;
  ::setrlimit(RLIMIT_STACK, &limit);
  ::personality(static_cast<unsigned long>(::personality(0xffffffff)) & ~ADDR_COMPAT_LAYOUT);
  ::getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = 0;
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) refuse_starter("RLIMIT_DATA");
}

[[noreturn]] void become_host(const char* program, int reaper) {
  if (::dup2(reaper, kHostReaperFd) < 0) refuse_starter("dup2");
  prepare_memory_of_host();
  char* const argv[] = {const_cast<char*>("nagaya-host"), nullptr};
  char* const envp[] = {nullptr};
  ::execve(program, argv, envp);
  refuse_starter(program);
}

}  // namespace
}  // namespace nagaya::task

int main(int argc, char** argv) {
  using namespace nagaya::task;
  if (argc != 2) {
    fputs("nagaya-reaper: a part of nagaya, which starts it\n", stderr);
    return 125;
  }
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) refuse_starter("socketpair");
  if (fork_or_refuse() > 0) ::_exit(0);
  const pid_t host = fork_or_refuse();
  if (host == 0) become_host(argv[1], ends[1]);
  ::setsid();
  ::dup2(ends[0], kHostListenerFd);
  ::closefrom(kHostListenerFd + 1);
  reap_for(host, kHostListenerFd);
  ::_exit(0);
}
