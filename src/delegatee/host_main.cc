// SPDX-License-Identifier: BSD-3-Clause
// host_main.cc - the program nagaya-host. Started by a client (host_start.cc) with its listening
// socket as descriptor 3, a socket with HostSettings as descriptor 4, and the folder of the former
// as descriptor 5.
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "delegatee/server.h"
#include "task/client.h"
#include "task/host.h"
#include "task/socket_folder.h"

namespace {

using namespace nagaya;

constexpr rlim_t kStackMaxBytes = 8 << 20;  // of the host

// The first life of the program ends here, in a second one that is nobody's child: what a launcher
// or a terminal does to the processes below a proxy must not reach the host of all tasks.
//
// And the second one has no memory below the program break. There is one break per address space,
// and every libc believes that it owns it: a task that lowers it (UCX does, to test its hooks)
// would unmap what the host has there. While the soft RLIMIT_DATA is 0, brk fails and mmap does not
// (the kernel allows that for valgrind's sake), which must hold before libc's first malloc.
//
// And the second one lies above kSpaceEnd: with a large or unlimited stack the kernel would put its
// libraries and mappings (mmap_base) where the partitions of the tasks are. Tasks have a limit of
// their own for the stack.
void start_second_life(char** argv) {
  rlimit limit{};
  ::getrlimit(RLIMIT_STACK, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, kStackMaxBytes);
  ::setrlimit(RLIMIT_STACK, &limit);
  ::personality(static_cast<unsigned long>(::personality(0xffffffff)) & ~ADDR_COMPAT_LAYOUT);
  ::getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = 0;
  char path[PATH_MAX];
  const ssize_t bytes = ::readlink("/proc/self/exe", path, sizeof path - 1);
  if (bytes < 0 || ::setrlimit(RLIMIT_DATA, &limit) != 0) base::throw_errno("/proc/self/exe");
  path[bytes] = '\0';
  const pid_t pid = ::fork();
  if (pid < 0) base::throw_errno("fork");
  if (pid > 0) ::_exit(0);
  char* const second[] = {argv[0], const_cast<char*>("second-life"), nullptr};
  ::execv(path, second);
  base::throw_errno(path);
}

// With the page above it taken, every growth fails and every malloc falls back to mmap, although
// tasks have limits of their own.
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
  for (const auto resource : {RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_DATA}) {
    ::getrlimit(resource, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(resource, &limit);
  }
  ::getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = 0;
  ::setrlimit(RLIMIT_CORE, &limit);
}

// Before Linux 5.16 a task that dumps core ends all who share its memory (zap_process, since 5.16
// only its own threads). What must not be dumped is not: the others go on. The price: /proc/PID
// of host and tasks belongs to root.
void spare_the_others() {
  utsname about{};
  unsigned version = 0, part = 0;
  ::uname(&about);
  std::sscanf(about.release, "%u.%u", &version, &part);
  if (version < 5 || (version == 5 && part < 16)) ::prctl(PR_SET_DUMPABLE, 0);
}

// Reads the settings, then waits until the listener listens. False when the starter has died.
bool read_settings(task::HostSettings* settings) {
  const base::Fd starter(task::kHostSettingsFd);
  const pid_t self = ::getpid();
  if (::send(starter.get(), &self, sizeof self, MSG_NOSIGNAL) != sizeof self ||
      ::read(starter.get(), settings, sizeof *settings) != sizeof *settings ||
      !settings->stamp.matches(sizeof *settings))
    return false;
  task::choose_stop_point(settings->stop_choice);
  task::stop_at(task::StopPoint::kHostStarted);
  char go;
  return ::read(starter.get(), &go, 1) == 1;
}

task::SocketPlace place_of(const task::HostSettings& settings) {
  base::Fd folder(task::kHostFolderFd);
  const std::filesystem::path path(settings.socket_path);
  return task::place_in(std::move(folder), path.parent_path(), path.filename());
}

// The host's standard streams go nowhere: its first client says what has gone wrong.
void refuse_first_client(const base::Fd& listener, const base::Error& reason) {
  constexpr int kLimitMs = 5000;
  pollfd ready{listener.get(), POLLIN, 0};
  if (::poll(&ready, 1, kLimitMs) <= 0) return;
  try {
    task::Channel client(base::Fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)));
    client.limit_wait(kLimitMs / 1000);
    client.receive();  // its Hello: unread, it would take the answer with it
    client.send(task::MessageType::kRefused, task::encode_refusal(reason));
  } catch (const base::Error&) {
    return;  // the client has gone
  }
}

// Another host may listen under the same path by now: its socket stays.
void leave(base::Fd& listener, const task::SocketPlace& place) {
  listener.reset();
  try {
    task::remove_stale_socket(place);
  } catch (const base::Error&) {
    return;  // it is as stale to others as to this host
  }
}

}  // namespace

int main(int argc, char** argv) {
  task::HostSettings settings{};
  base::Fd listener(task::kHostListenerFd);
  std::optional<task::SocketPlace> place;
  try {
    if (argc < 2) start_second_life(argv);
    guard_the_break();
    ::close_range(task::kHostFolderFd + 1, ~0u, 0);
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    const bool is_to_serve = read_settings(&settings);
    place = place_of(settings);
    if (!is_to_serve) {
      std::fprintf(stderr, "nagaya-host: started by nagaya only\n");
      leave(listener, *place);
      return 125;
    }
    unignore_signals();
    shed_inherited_limits();
    task::Host host(settings, listener, *place);
    delegatee::Server server(host.space());
    host.carry(server);
    spare_the_others();
    host.run();
    return 0;
  } catch (const base::Error& error) {
    refuse_first_client(listener, error);
    if (place) leave(listener, *place);
    return 125;
  }
}
