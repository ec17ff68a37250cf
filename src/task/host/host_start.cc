// SPDX-License-Identifier: BSD-3-Clause
#include "task/host/host_start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "task/host/host_log.h"
#include "task/host/host_settings.h"
#include "task/host/stop_choice.h"
#include "task/load/installation.h"

namespace nagaya::task {
namespace {

using base::Error;

// Returns the absolute path of the host's log; "" if none is wanted. Throws Error: it cannot be
// written.
std::string chosen_log() {
  const char* const path = ::getenv("NAGAYA_LOG");
  if (path == nullptr || *path == '\0') return {};
  const std::string absolute = std::filesystem::absolute(path);
  const HostLog log(absolute);  // opened here, because the host could not report an error
  return absolute;
}

// Returns the stop choice for the host. Leaves out the points in lanes, bells and mailboxes: the
// delegatee in the host passes them, too, but only tasks shall stop there. No task passes
// kOperandsRead.
StopChoice stop_choice_of_host() {
  const StopChoice own = stop_choice();
  const bool is_of_host =
      own.point <= StopPoint::kTaskEntering || own.point == StopPoint::kOperandsRead;
  return is_of_host ? own : StopChoice{StopPoint::kNone, 1};
}

HostSettings settings_of(const Job& job, const std::string& socket_path) {
  HostSettings settings{};
  settings.stamp = {kMagic, kAbiMajor, kAbiMinor, sizeof settings, 0};
  std::copy(std::begin(job.key), std::end(job.key), settings.key);
  settings.expected_tasks = job.group_tasks;
  settings.capacity = job.capacity;
  settings.launcher_pid = job.launcher_pid;
  settings.stop_choice = stop_choice_of_host();
  if (socket_path.size() >= sizeof settings.socket_path)
    throw Error(-ENAMETOOLONG, socket_path + ": path too long, set TMPDIR to a shorter one");
  std::copy(socket_path.begin(), socket_path.end(), settings.socket_path);
  const std::string log_path = chosen_log();
  if (log_path.size() >= sizeof settings.log_path)
    throw Error(-ENAMETOOLONG, "NAGAYA_LOG=" + log_path + ": path too long");
  std::copy(log_path.begin(), log_path.end(), settings.log_path);
  return settings;
}

// Returns a copy of `fd` above the descriptor numbers that a host expects to find open.
base::Fd out_of_the_way(const base::Fd& fd) {
  constexpr int kLowest = 16;
  return base::checked_fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kLowest), "cannot start the host");
}

// Opens the folder once more: the host must not keep a lock that this process holds on `folder`.
base::Fd opened_again(const base::Fd& folder) {
  return base::checked_fd(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                          "the socket folder");
}

// Spawns the host's reaper, which starts the host, with a process group of its own (the launcher's
// killpg must not reach it), only these descriptors of this process, and default signals.
void spawn_host(const base::Fd& listener, const base::Fd& settings, const base::Fd& folder) {
  const base::Fd high_listener = out_of_the_way(listener);
  const base::Fd high_settings = out_of_the_way(settings);
  const base::Fd high_folder = out_of_the_way(folder);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  // The standard streams are /dev/null, because a launcher waits for the end of its ranks' output.
  ::posix_spawn_file_actions_adddup2(&files, high_listener.get(), kHostListenerFd);
  ::posix_spawn_file_actions_adddup2(&files, high_settings.get(), kHostSettingsFd);
  ::posix_spawn_file_actions_adddup2(&files, high_folder.get(), kHostFolderFd);
  for (int fd : {0, 1, 2}) ::posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t all;
  ::sigfillset(&all);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  const std::string program = installed_program("nagaya-reaper");
  std::string host = installed_program("nagaya-host");
  char* const argv[] = {const_cast<char*>("nagaya-reaper"), host.data(), nullptr};
  // An empty environment: LD_PRELOAD and the like are meant for the tasks.
  char* const envp[] = {nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), &files, &attributes, argv, envp);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0)
    base::throw_errno(
        "cannot start the host " + program + " (`nagaya doctor` says what is missing)", error);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
}

// Called when the host has sent nothing: the dynamic linker, or a signal, has ended it.
[[noreturn]] void throw_died() {
  throw Error(-ECHILD,
              "the host of the job died while it started (`nagaya doctor` says what is missing)");
}

// Receives up to `bytes` bytes. Returns how many arrived before the end of the stream. Goes on
// after signals to the caller.
size_t receive_all(const base::Fd& from, void* out, size_t bytes) {
  size_t got = 0;
  while (got < bytes) {
    const ssize_t more = ::recv(from.get(), static_cast<char*>(out) + got, bytes - got, 0);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    got += static_cast<size_t>(more);
  }
  return got;
}

// Reads the pid that the host sends, and returns its pidfd. A host that cannot start, or its
// reaper, sends a negative error code and its text instead.
base::Fd await_host(const base::Fd& host) {
  int32_t said = 0;
  if (receive_all(host, &said, sizeof said) != sizeof said) throw_died();
  if (said > 0) return base::Fd(static_cast<int>(::syscall(SYS_pidfd_open, said, 0)));
  char reason[1024];
  const size_t bytes = receive_all(host, reason, sizeof reason);
  throw Error(said, "cannot start the host of the job: " + std::string(reason, bytes));
}

}  // namespace

// If either process dies meanwhile, the other one removes the socket: the host learns the socket's
// path before the socket exists, and serves it only after this process has told it to.
base::Fd start_host(const Job& job, const SocketPlace& place, base::Fd* host) {
  base::Fd listener = new_socket();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    base::throw_errno("socketpair");
  base::Fd theirs(ends[0]), ours(ends[1]);
  const HostSettings settings = settings_of(job, place.path);
  spawn_host(listener, theirs, opened_again(place.folder));
  theirs.reset();
  *host = await_host(ours);
  if (::send(ours.get(), &settings, sizeof settings, MSG_NOSIGNAL) != sizeof settings) throw_died();
  stop_at(StopPoint::kClientHostSpawned);
  listen_at(listener, place);
  stop_at(StopPoint::kClientListening);
  listener.reset();  // from now on only the host has it open
  if (::send(ours.get(), "", 1, MSG_NOSIGNAL) == 1)
    if (base::Fd socket = connect_to_host(place)) return socket;
  remove_socket(place);
  throw_died();
}

}  // namespace nagaya::task
