// SPDX-License-Identifier: BSD-3-Clause
#include "task/client.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/random.h"
#include "task/host_log.h"
#include "task/installation.h"
#include "task/socket_folder.h"
#include "task/stop_choice.h"

namespace nagaya::task {
namespace {

using base::Error;

constexpr int kJoinTries = 100;
constexpr int kAnswerLimitMs = 5000;
constexpr int kGreetingLimitS = 15;  // longer than a host on a busy node takes to start

// The file for what the host notices; "": none is wanted. Throws Error: it cannot be written.
std::string chosen_log() {
  const char* const path = ::getenv("NAGAYA_LOG");
  if (path == nullptr || *path == '\0') return {};
  const std::string absolute = std::filesystem::absolute(path);
  const HostLog log(absolute);  // the host, which would find out, has nobody to tell
  return absolute;
}

// Only tasks stop in lanes, bells and mailboxes: the delegatee in the host comes by these, too.
StopChoice stop_choice_of_host() {
  const StopChoice own = stop_choice();
  return own.point <= StopPoint::kTaskEntering ? own : StopChoice{StopPoint::kNone, 1};
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

// A copy above all numbers at which a host finds something.
base::Fd out_of_the_way(const base::Fd& fd) {
  constexpr int kLowest = 16;
  return base::checked_fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kLowest), "cannot start the host");
}

// The same folder, opened once more: a lock that this process holds must not live on in the host.
base::Fd opened_again(const base::Fd& folder) {
  return base::checked_fd(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                          "the socket folder");
}

// The host gets a process group of its own (the launcher's killpg must not reach it), no
// descriptor of ours but these, and default signals.
void spawn_host(const base::Fd& listener, const base::Fd& settings, const base::Fd& folder) {
  const base::Fd high_listener = out_of_the_way(listener);
  const base::Fd high_settings = out_of_the_way(settings);
  const base::Fd high_folder = out_of_the_way(folder);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  // The standard streams go nowhere, because a launcher waits for the end of its ranks' output.
  ::posix_spawn_file_actions_adddup2(&files, high_listener.get(), kHostListenerFd);
  ::posix_spawn_file_actions_adddup2(&files, high_settings.get(), kHostSettingsFd);
  ::posix_spawn_file_actions_adddup2(&files, high_folder.get(), kHostFolderFd);
  for (int fd : {0, 1, 2}) ::posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t all;
  ::sigfillset(&all);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  const std::string program = installed_program("nagaya-host");
  char* const argv[] = {const_cast<char*>("nagaya-host"), nullptr};
  // An empty environment: LD_PRELOAD and the like are meant for the tasks.
  char* const envp[] = {nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), &files, &attributes, argv, envp);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0)
    base::throw_errno(
        "cannot start the host " + program + " (`nagaya doctor` says what is missing)", error);
  ::waitpid(pid, nullptr, 0);
}

// The pid that the host says itself: the process that was spawned has ended in favour of another.
base::Fd await_host(const base::Fd& host) {
  int32_t pid = 0;
  if (::recv(host.get(), &pid, sizeof pid, MSG_WAITALL) != sizeof pid)
    throw Error(-EPIPE, "the host of the job died while it started");
  return base::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

// Starts a host and connects to it. The folder is locked. Whichever of the two processes dies on
// the way, the other removes the socket: the host learns its path before there is one, and serves
// it only when told to.
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
  if (::send(ours.get(), &settings, sizeof settings, MSG_NOSIGNAL) != sizeof settings)
    throw Error(-EPIPE, "the host of the job died while it started");
  stop_at(StopPoint::kClientHostSpawned);
  listen_at(listener, place);
  stop_at(StopPoint::kClientListening);
  listener.reset();  // from now on the host alone keeps it open
  if (::send(ours.get(), "", 1, MSG_NOSIGNAL) == 1)
    if (base::Fd socket = connect_to_host(place)) return socket;
  remove_socket(place);
  throw Error(-EPIPE, "the host of the job died while it started");
}

// Removes the socket of a host that has died of `error`, and announces it while the others wait for
// the folder. False when another has done so, or a host listens there.
bool bury(const SocketPlace& place, const Error& error, const Announcement& announce) {
  const FolderLock lock(place.folder);
  if (is_served(place) || !remove_socket(place)) return false;
  if (announce) announce(error);
  return true;
}

SocketPlace existing_place(const std::string& path) {
  if (std::optional<SocketPlace> place = find_place(path)) return std::move(*place);
  throw Error(-ENOENT, path + ": no such folder");
}

SocketPlace place_of(const Job& job) {
  if (!job.existing_socket.empty()) return existing_place(job.existing_socket);
  std::string path;
  base::Fd folder = open_socket_folder(&path);
  return place_in(std::move(folder), path, job.name + ".sock");
}

// A connection to the job's host, and the host's pidfd when this process has started it.
base::Fd connect_or_start(const Job& job, const SocketPlace& place, base::Fd* host) {
  base::Fd socket = connect_to_host(place);
  if (socket) return socket;
  if (!job.existing_socket.empty()) throw Error(-ESRCH, "the host of this space is gone");
  // One starter at a time; who waited for the lock finds the host of who held it.
  const FolderLock lock(place.folder);
  struct stat about {};
  if (::fstat(place.folder.get(), &about) == 0 && about.st_nlink == 0)
    throw Error(-ESTALE, "the socket folder was removed (by `nagaya clean`?)");
  stop_at(StopPoint::kClientLocked);
  socket = connect_to_host(place);
  return socket ? std::move(socket) : start_host(job, place, host);
}

void check_stop_choice() {
  if (stop_choice_is_good) return;
  throw Error(-EINVAL,
              std::string("NAGAYA_STOP_AT=") + ::getenv("NAGAYA_STOP_AT") + ": no such stop point");
}

Hello hello_of(const Job& job) {
  Hello hello{};
  hello.stamp = {kMagic, kAbiMajor, kAbiMinor, sizeof(SpaceHeader), 0};
  std::copy(std::begin(job.key), std::end(job.key), hello.key);
  hello.group_tasks = job.group_tasks;
  hello.keeps_tasks = job.keeps_tasks ? 1 : 0;
  std::copy_n(job.group.begin(), std::min(job.group.size(), sizeof hello.group - 1), hello.group);
  return hello;
}

// By the bare system call: 64 calls by way of libc were a fifth of a creator's time per task.
uint64_t ignored_signals() {
  uint64_t ignored = 0;
  for (int signal = 1; signal <= kSignalsMax; ++signal) {
    struct {
      void (*handler)(int);
      uint64_t rest[3];
    } action;
    if (arch::raw_syscall(__NR_rt_sigaction, signal, nullptr, &action, sizeof(uint64_t)) == 0 &&
        action.handler == SIG_IGN)
      ignored |= uint64_t{1} << (signal - 1);
  }
  return ignored;
}

}  // namespace

Job job_of_own_space(const TaskRecord& self) {
  const SpaceHeader& space = *self.space;
  Job job;
  std::copy(std::begin(space.key), std::end(space.key), job.key);
  job.existing_socket = space.host_socket;
  job.group = "task " + std::to_string(self.number);
  job.keeps_tasks = true;
  return job;
}

Client Client::join(const Job& job, const Announcement& announce) {
  check_stop_choice();
  for (int n = 0; n < kJoinTries; ++n) {
    const SocketPlace place = place_of(job);
    try {
      return join_at(job, place);
    } catch (const Error& error) {
      // A host that was just leaving has removed its socket, or `nagaya clean` the empty folder:
      // the next try starts a new one.
      const bool has_left = error.code() == -EPIPE && !bury(place, error, announce);
      if (!has_left && error.code() != -ESTALE) throw;
    }
    ::usleep(1000);
  }
  throw Error(-ECONNREFUSED, "the host of the job refuses this process (wrong key?)");
}

Client Client::join_at(const Job& job, const SocketPlace& place) {
  base::Fd host;
  base::Fd socket = connect_or_start(job, place, &host);
  stop_at(StopPoint::kClientConnected);
  Client client(Channel(std::move(socket)), place.path, std::move(host));
  client.greet(job);
  stop_at(StopPoint::kClientGreeted);
  return client;
}

void Client::greet(const Job& job) {
  send(MessageType::kHello, encode_plain(hello_of(job)));
  channel_.limit_wait(kGreetingLimitS);
  const Message answer = receive();
  channel_.limit_wait(0);
  if (answer.type == MessageType::kRefused) throw decode_refusal(answer.payload);
  if (answer.type != MessageType::kWelcome) throw Error(-EPROTO, "malformed message: no welcome");
}

// Throws the error; that of a broken channel as the death of the host.
[[noreturn]] static void rethrow_as_client(const Error& error) {
  if (error.code() != -EPIPE && error.code() != -ECONNRESET) throw error;
  throw Error(-EPIPE, "the host of the job has died, and its tasks with it");
}

// After the host has ended the connection: what it has said last, if that is why.
std::optional<Error> Client::reason_of_end() {
  try {
    while (const auto message = channel_.receive())
      if (message->type == MessageType::kRefused) return decode_refusal(message->payload);
  } catch (const Error&) {
    return std::nullopt;  // the end of what it has said
  }
  return std::nullopt;
}

void Client::send(MessageType type, const std::string& payload,
                  const std::vector<int>& descriptors) try {
  channel_.send(type, payload, descriptors);
} catch (const Error& error) {
  const bool has_ended = error.code() == -EPIPE || error.code() == -ECONNRESET;
  if (const auto reason = has_ended ? reason_of_end() : std::nullopt) throw *reason;
  rethrow_as_client(error);
}

Client Client::resume(base::Fd socket, const std::string& socket_path) {
  return {Channel(std::move(socket)), socket_path, {}};
}

Message Client::receive() try {
  if (auto message = channel_.receive()) return std::move(*message);
  throw Error(-ETIMEDOUT, "the host of the job does not answer");
} catch (const Error& error) {
  rethrow_as_client(error);
}

Started Client::launch(const Launch& launch, const std::vector<int>& descriptors) {
  send(MessageType::kLaunch, encode(launch), descriptors);
  stop_at(StopPoint::kClientLaunchSent);
  for (;;) {
    const Message answer = receive();
    if (answer.type == MessageType::kStarted) {
      stop_at(StopPoint::kClientStarted);
      return decode_plain<Started>(answer.payload);
    }
    if (answer.type == MessageType::kRefused) throw decode_refusal(answer.payload);
    if (answer.type == MessageType::kEnded) ended_.push_back(decode_plain<Ended>(answer.payload));
  }
}

std::string Client::ask(const std::string& question) {
  send(MessageType::kQuestion, question);
  for (;;) {
    const Message message = receive();
    if (message.type == MessageType::kAnswer) return message.payload;
    if (message.type == MessageType::kRefused) throw decode_refusal(message.payload);
    if (message.type == MessageType::kEnded) ended_.push_back(decode_plain<Ended>(message.payload));
  }
}

std::optional<Ended> Client::poll_ended() {
  if (ended_.empty()) {
    std::optional<Message> message = channel_.take_message();
    pollfd readable{channel_.fd(), POLLIN, 0};
    if (!message && ::poll(&readable, 1, 0) > 0) message = receive();
    if (!message) return std::nullopt;
    if (message->type == MessageType::kRefused) throw decode_refusal(message->payload);
    ended_.push_back(decode_plain<Ended>(message->payload));
  }
  stop_at(StopPoint::kClientEnded);
  const Ended ended = ended_.front();
  ended_.pop_front();
  return ended;
}

void Client::signal(uint32_t number, int signal) {
  send(MessageType::kSignal, encode_plain(SignalRequest{number, signal}));
}

void Client::waited(uint32_t number) {
  send(MessageType::kWaited, encode_plain(number));
}

Inheritance inherit_from_this_process() {
  Inheritance inherit{};
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &inherit.signal_mask, sizeof(uint64_t));
  inherit.ignored_signals = ignored_signals();
  const long mask_bytes =
      ::syscall(SYS_sched_getaffinity, 0, sizeof inherit.cpu_mask, inherit.cpu_mask);
  inherit.cpu_mask_bytes = mask_bytes > 0 ? static_cast<uint32_t>(mask_bytes) : 0;
  if (::syscall(SYS_get_mempolicy, &inherit.memory_policy, inherit.node_mask, kNodeMaskWords * 64,
                nullptr, 0) != 0)
    inherit.memory_policy = MPOL_DEFAULT;
  for (int n = 0; n < kLimits; ++n)
    ::getrlimit(static_cast<__rlimit_resource>(n), &inherit.limits[n]);
  inherit.umask = ::umask(0);
  ::umask(inherit.umask);
  inherit.nice = ::getpriority(PRIO_PROCESS, 0);
  inherit.process_group = ::getpgrp();
  return inherit;
}

std::vector<int> inheritable_descriptors() {
  std::vector<int> all;
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) base::throw_errno("/proc/self/fd");
  while (const dirent* entry = ::readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] == '.' || fd == ::dirfd(folder)) continue;
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) all.push_back(fd);
  }
  ::closedir(folder);
  std::sort(all.begin(), all.end());
  return all;
}

bool remove_stale_socket(const SocketPlace& place) {
  return bury(place, Error(-EPIPE, place.path), {});
}

bool remove_stale_socket(const std::string& socket_path) {
  const std::optional<SocketPlace> place = find_place(socket_path);
  return place && remove_stale_socket(*place);
}

void bury_host(const std::string& socket_path, const Error& error, const Announcement& announce) {
  const std::optional<SocketPlace> place = find_place(socket_path);
  // Better by each of the proxies than by none: who removed the folder, or started the new host,
  // has announced nothing.
  if (!place || (!bury(*place, error, announce) && is_served(*place))) announce(error);
}

JobStatus query_status(const std::string& socket_path) {
  base::Fd socket = connect_to_host(existing_place(socket_path));
  if (!socket) throw Error(-ESRCH, socket_path + ": nobody listens there");
  const int fd = socket.get();
  Channel channel(std::move(socket));
  channel.send(MessageType::kStatusQuery, "");
  pollfd readable{fd, POLLIN, 0};
  for (;;) {
    if (::poll(&readable, 1, kAnswerLimitMs) <= 0)
      throw Error(-ETIMEDOUT, socket_path + ": the host does not answer");
    if (const auto answer = channel.receive()) return decode_status(answer->payload);
  }
}

void random_key(uint8_t (&key)[16]) {
  base::fill_random(key);
}

std::string hex(const uint8_t (&key)[16]) {
  std::string digits;
  for (uint8_t byte : key) {
    digits += "0123456789abcdef"[byte >> 4];
    digits += "0123456789abcdef"[byte & 15];
  }
  return digits;
}

}  // namespace nagaya::task
