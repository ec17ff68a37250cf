// SPDX-License-Identifier: BSD-3-Clause
#include "task/client.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "task/installation.h"

namespace nagaya::task {
namespace {

using base::Error;

constexpr int kJoinTries = 100;
constexpr int kListenBacklog = 4096;
constexpr int kAnswerLimitMs = 5000;

// Where the folder of this user's sockets may lie, best first.
std::vector<std::string> possible_socket_folders() {
  std::vector<std::string> folders;
  for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR"})
    if (const char* value = ::getenv(variable); value != nullptr && ::access(value, W_OK) == 0)
      folders.push_back(value);
  folders.push_back("/tmp");
  for (std::string& folder : folders) folder += "/nagaya-" + std::to_string(::geteuid());
  return folders;
}

// The private folder of this user's sockets, made when missing.
std::string socket_folder() {
  const std::string folder = possible_socket_folders().front();
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    base::throw_errno("cannot make the socket folder " + folder);
  struct stat about;
  if (::lstat(folder.c_str(), &about) != 0) base::throw_errno(folder);
  if (!S_ISDIR(about.st_mode) || about.st_uid != ::geteuid() || (about.st_mode & 077) != 0)
    throw Error(-EPERM, folder + ": not a folder of yours alone; remove it or set TMPDIR");
  return folder;
}

// Reaches a socket by way of its open folder, so that its path may be of any length.
sockaddr_un address_in(const base::Fd& folder, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(folder.get()) + "/" + name;
  if (path.size() >= sizeof address.sun_path) throw Error(-ENAMETOOLONG, name + ": name too long");
  std::copy(path.begin(), path.end(), address.sun_path);
  return address;
}

base::Fd new_socket() {
  return base::checked_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
}

// A connection, or none when nobody listens there.
base::Fd connect_to(const sockaddr_un& address) {
  base::Fd socket = new_socket();
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return socket;
  if (errno == ENOENT || errno == ECONNREFUSED) return {};
  base::throw_errno("cannot connect to the host of the job");
}

base::Fd listen_at(const sockaddr_un& address) {
  ::unlink(address.sun_path);  // a stale one: nobody listened, and the folder is locked
  base::Fd socket = new_socket();
  const mode_t old = ::umask(0177);
  const int bound =
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(old);
  if (bound != 0 || ::listen(socket.get(), kListenBacklog) != 0)
    base::throw_errno("cannot listen for the tasks of the job");
  ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  return socket;
}

base::Fd settings_pipe(const Job& job, const std::string& socket_path) {
  HostSettings settings{};
  settings.stamp = {kMagic, kAbiMajor, kAbiMinor, sizeof settings, 0};
  std::copy(std::begin(job.key), std::end(job.key), settings.key);
  settings.expected_tasks = job.group_tasks;
  settings.capacity = job.capacity;
  settings.launcher_pid = job.launcher_pid;
  if (socket_path.size() >= sizeof settings.socket_path)
    throw Error(-ENAMETOOLONG, socket_path + ": path too long, set TMPDIR to a shorter one");
  std::copy(socket_path.begin(), socket_path.end(), settings.socket_path);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) base::throw_errno("pipe");
  base::Fd reader(ends[0]), writer(ends[1]);
  if (::write(writer.get(), &settings, sizeof settings) != sizeof settings)
    base::throw_errno("cannot pass the settings to the host");
  return reader;
}

// The host gets a process group of its own (the launcher's killpg must not reach it), no
// descriptor of ours, and default signals.
int32_t start_host(const base::Fd& listener, const base::Fd& settings) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  // Out of the way of the target numbers first; then the standard streams go nowhere, because a
  // launcher waits for the end of its ranks' output.
  const base::Fd high_listener(::fcntl(listener.get(), F_DUPFD_CLOEXEC, 16));
  const base::Fd high_settings(::fcntl(settings.get(), F_DUPFD_CLOEXEC, 16));
  ::posix_spawn_file_actions_adddup2(&files, high_listener.get(), kHostListenerFd);
  ::posix_spawn_file_actions_adddup2(&files, high_settings.get(), kHostSettingsFd);
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
  if (error != 0) base::throw_errno("cannot start the host " + program, error);
  return pid;
}

// Where the host of a job listens.
struct Place {
  std::string path;
  base::Fd folder;
  sockaddr_un address;
};

Place place_of(const Job& job) {
  const std::filesystem::path path = job.existing_socket.empty()
                                         ? socket_folder() + "/" + job.name + ".sock"
                                         : job.existing_socket;
  const std::string folder_path = path.parent_path();
  base::Fd folder = base::checked_fd(
      ::open(folder_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), folder_path);
  const sockaddr_un address = address_in(folder, path.filename());
  return {path, std::move(folder), address};
}

// A connection to the job's host. `host_pid` is set when this process has started it.
base::Fd connect_or_start(const Job& job, const Place& place, int32_t* host_pid) {
  base::Fd socket = connect_to(place.address);
  if (socket) return socket;
  if (!job.existing_socket.empty()) throw Error(-ESRCH, "the host of this space is gone");
  // One starter at a time; who waited for the lock finds the host of who held it.
  if (::flock(place.folder.get(), LOCK_EX) != 0) base::throw_errno("cannot lock the socket folder");
  socket = connect_to(place.address);
  if (!socket) {
    // Bound and listening before the host exists: later clients queue up at once.
    const base::Fd listener = listen_at(place.address);
    *host_pid = start_host(listener, settings_pipe(job, place.path));
    socket = connect_to(place.address);
  }
  ::flock(place.folder.get(), LOCK_UN);
  return socket;
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

Client Client::join(const Job& job) {
  const Place place = place_of(job);
  for (int n = 0; n < kJoinTries; ++n) {
    int32_t host_pid = 0;
    base::Fd socket = connect_or_start(job, place, &host_pid);
    Client client(Channel(std::move(socket)), host_pid);
    try {
      client.greet(job);
      return client;
    } catch (const Error& error) {
      // A host that was just leaving: the next try starts a new one.
      if (error.code() != -EPIPE || host_pid != 0) throw;
    }
    ::usleep(1000);
  }
  throw Error(-ECONNREFUSED, "the host of the job refuses this process (wrong key?)");
}

void Client::greet(const Job& job) {
  channel_.send(MessageType::kHello, encode_plain(hello_of(job)));
  const Message answer = receive();
  if (answer.type == MessageType::kRefused) throw decode_refusal(answer.payload);
}

Message Client::receive() {
  try {
    for (;;)
      if (auto message = channel_.receive()) return std::move(*message);
  } catch (const Error& error) {
    if (error.code() != -EPIPE) throw;
    throw Error(-EPIPE, "the host of the job has died, and its tasks with it");
  }
}

Started Client::launch(const Launch& launch, const std::vector<int>& descriptors) {
  channel_.send(MessageType::kLaunch, encode(launch), descriptors);
  for (;;) {
    const Message answer = receive();
    if (answer.type == MessageType::kStarted) return decode_plain<Started>(answer.payload);
    if (answer.type == MessageType::kRefused) throw decode_refusal(answer.payload);
    if (answer.type == MessageType::kEnded) ended_.push_back(decode_plain<Ended>(answer.payload));
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
  const Ended ended = ended_.front();
  ended_.pop_front();
  return ended;
}

void Client::signal(uint32_t number, int signal) {
  channel_.send(MessageType::kSignal, encode_plain(SignalRequest{number, signal}));
}

void Client::waited(uint32_t number) {
  channel_.send(MessageType::kWaited, encode_plain(number));
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

std::vector<std::string> socket_folders() {
  std::vector<std::string> existing;
  for (const std::string& folder : possible_socket_folders())
    if (::access(folder.c_str(), R_OK) == 0) existing.push_back(folder);
  std::sort(existing.begin(), existing.end());
  existing.erase(std::unique(existing.begin(), existing.end()), existing.end());
  return existing;
}

JobStatus query_status(const std::string& socket_path) {
  Job job;
  job.existing_socket = socket_path;
  base::Fd socket = connect_to(place_of(job).address);
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
  if (::getrandom(key, sizeof key, 0) != sizeof key) base::throw_errno("getrandom");
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
