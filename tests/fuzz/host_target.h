// SPDX-License-Identifier: BSD-3-Clause
// host_target.h - a host whose clients know the key and lie.
//
// The host runs in the calling thread, one round after each step of the input. Three clients talk
// to it: two liars, who do what the input says, and a witness. The laws: the witness's task lives
// until the witness leaves; an honest client that joins after the liars have lied is served; after
// all clients have left, all tasks end and the host is done; no descriptor stays open.
//
// Tasks run: they are made by hand, static, and make nothing but system calls, so the address
// sanitizer of this process does not concern them.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>
#include <map>
#include <optional>

#include "../unit/task/elf_file.h"
#include "../unit/task/own_reaper.h"
#include "targets.h"
#include "task/host/host.h"

namespace nagaya::fuzz {

using task::MessageType;

constexpr uint8_t kHostKey[16] = {1, 2, 3};
constexpr uint32_t kHostCapacity = 6;

[[noreturn]] inline void broken(const char* law) {
  std::fprintf(stderr, "broken: %s\n", law);
  std::abort();
}

// So long may anything take, on a busy machine.
class Deadline {
 public:
  bool has_passed() const { return Clock::now() > at_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point at_ = Clock::now() + std::chrono::seconds(8);
};

// Reads the input; gives zeros once the input is used up.
class Script {
 public:
  Script(const uint8_t* data, size_t bytes) : at_(data), end_(data + bytes) {}
  bool at_end() const { return at_ == end_; }
  uint8_t byte() { return at_end() ? 0 : *at_++; }
  template <class Number>
  Number number() {
    const std::string bytes = text(sizeof(Number));
    Number value{};
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  std::string text(size_t bytes) {
    const size_t some = std::min(bytes, static_cast<size_t>(end_ - at_));
    at_ += some;
    return {reinterpret_cast<const char*>(at_ - some), some};
  }

 private:
  const uint8_t *at_, *end_;
};

// A program of the given machine code: the path of a file in memory.
inline std::string program_of(const std::string& code) {
  constexpr uint64_t kCodeAt = 0x200;
  task::ElfFile file;
  file.interp.p_type = PT_NULL;
  file.header.e_entry = kCodeAt;
  std::string bytes = file.bytes();
  bytes.replace(kCodeAt, code.size(), code);
  const int fd = ::memfd_create("program", MFD_CLOEXEC);
  if (::write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    broken("a program can be written");
  return "/proc/self/fd/" + std::to_string(fd);
}

inline const std::string& program(uint8_t which) {
  const std::string exit("\xb8\xe7\0\0\0\x31\xff\x0f\x05", 9);   // exit_group(0)
  const std::string pause("\xb8\x22\0\0\0\x0f\x05\xeb\xf7", 9);  // for (;;) pause();
  // clone(CLONE_VM | CLONE_PARENT | SIGCHLD): the reaper gets a child that the host has not made.
  const std::string sibling(
      "\xb8\x38\0\0\0\xbf\x11\x81\0\0\x31\xf6\x31\xd2\x45\x31\xd2\x45\x31\xc0\x0f\x05", 22);
  static const std::string all[] = {program_of(pause),
                                    program_of(exit),
                                    program_of(sibling + exit),
                                    "/no/such/program",
                                    "/proc",
                                    "/dev/null",
                                    "relative",
                                    ""};
  return all[which % std::size(all)];
}

inline task::Launch launch_of(uint8_t which) {
  task::Launch launch{};
  launch.text = {program(which), "name", {"argument"}, {"A=1"}, "process"};
  for (int n = 0; n < task::kLimits; ++n)
    ::getrlimit(static_cast<__rlimit_resource>(n), &launch.inherit.limits[n]);
  launch.inherit.limits[RLIMIT_CORE] = {0, 0};
  return launch;
}

// The floors above: they answer at length, and hold on to ended tasks for some rounds.
struct Floor : task::UpperFloor {
  std::string answer(const std::string& question, std::vector<base::Fd>) override {
    if (question.empty()) throw base::Error(-EPROTO, "an empty question");
    return std::string(static_cast<size_t>(static_cast<uint8_t>(question[0])) << 12, 'x');
  }
  void task_starts(const task::TaskRecord& record, std::span<const uint64_t>) override {
    if (rounds[record.number] != 0) broken("a number that is held is not used again");
  }
  void task_ended(const task::TaskRecord& record) override { rounds[record.number] = 2; }
  bool holds(const task::TaskRecord& record) const override {
    return rounds[record.number] != 0 && --rounds[record.number] != 0;
  }
  int set_readers(uint32_t) override { return STDERR_FILENO; }
  uint64_t refused_messages() const override { return 0; }
  std::vector<task::RequestCount> requests() const override { return {}; }
  mutable uint32_t rounds[kHostCapacity] = {};
};

class HostUnderTest {
 public:
  // By default of a launcher that is gone: the host waits for no tasks that were announced.
  explicit HostUnderTest(int launcher_pid = INT_MAX)
      : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
        host_(settings(launcher_pid), listening(), no_file_, own_reaper()) {
    host_.set_upper_floor(floor_);
  }
  // Frees the memory that a host leaves to the end of its process.
  ~HostUnderTest() {
    ::munmap(reinterpret_cast<void*>(host_.space().redirect_table), arch::kTableBytes);
    ::munmap(reinterpret_cast<void*>(task::kSpaceBegin), task::kSpaceEnd - task::kSpaceBegin);
  }
  task::Host& operator*() { return host_; }

  base::Fd connect() const {
    base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address_), address_bytes_) != 0)
      broken("the host listens");
    return socket;
  }

 private:
  static task::HostSettings settings(int launcher_pid) {
    task::HostSettings settings{};
    std::copy(std::begin(kHostKey), std::end(kHostKey), settings.key);
    settings.capacity = kHostCapacity;
    settings.launcher_pid = launcher_pid;
    return settings;
  }
  // At an abstract address that the kernel chooses.
  base::Fd& listening() {
    address_.sun_family = AF_UNIX;
    auto* const address = reinterpret_cast<sockaddr*>(&address_);
    if (::bind(listener_.get(), address, sizeof address_.sun_family) != 0 ||
        ::listen(listener_.get(), 4096) != 0 ||
        ::getsockname(listener_.get(), address, &address_bytes_) != 0)
      base::throw_errno("listen");
    return listener_;
  }

  Floor floor_;
  sockaddr_un address_{};
  socklen_t address_bytes_ = sizeof address_;
  base::Fd listener_;
  task::SocketPlace no_file_{};  // it listens at no path
  task::Host host_;
};

inline task::Hello right_hello() {
  task::Hello hello{};
  hello.stamp = {task::kMagic, task::kAbiMajor, task::kAbiMinor, sizeof(task::SpaceHeader), 0};
  std::copy(std::begin(kHostKey), std::end(kHostKey), hello.key);
  hello.keeps_tasks = 1;
  return hello;
}

// Ends a client's connection. A task that is stopped before it has closed its copies of the
// descriptors of this process, in which the clients live, would keep it open.
inline void hang_up(int socket) {
  ::shutdown(socket, SHUT_RDWR);
}

// A client that keeps the protocol.
class Honest {
 public:
  explicit Honest(HostUnderTest& host) : host_(host), channel_(host.connect()) {
    channel_.send(MessageType::kHello, task::encode_plain(right_hello()));
    await(MessageType::kWelcome);
  }
  ~Honest() { hang_up(channel_.fd()); }
  Honest(const Honest&) = delete;
  Honest& operator=(const Honest&) = delete;

  task::Started launch_waiting_task() {
    const base::Fd folder(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
    channel_.send(MessageType::kLaunch, task::encode(launch_of(0)), {folder.get()});
    return task::decode_plain<task::Started>(await(MessageType::kStarted).payload);
  }
  task::JobStatus status() {
    channel_.send(MessageType::kStatusQuery, "");
    return task::decode_status(await(MessageType::kStatus).payload);
  }
  bool was_told_something() { return channel_.receive().has_value(); }

 private:
  task::Message await(MessageType type) {
    for (const Deadline deadline; !deadline.has_passed(); (*host_).serve_once(1))
      if (auto message = channel_.receive()) {
        if (message->type != type) broken("an honest client gets what it asks for");
        return std::move(*message);
      }
    broken("an honest client is answered");
  }

  HostUnderTest& host_;
  task::Channel channel_;
};

class Liar {
 public:
  explicit Liar(HostUnderTest& host) : host_(host), socket_(host.connect()) {}
  ~Liar() { hang_up(socket_.get()); }
  Liar(const Liar&) = delete;
  Liar& operator=(const Liar&) = delete;

  void step(uint8_t what, Script& script) {
    switch (what % 16) {
      case 0:
        return greet(script);
      case 1:
        return launch(script);
      case 2:
        return send(MessageType::kSignal,
                    task::encode_plain(task::SignalRequest{pid_of(script.byte()),
                                                           static_cast<int8_t>(script.byte())}));
      case 3:
        return send(MessageType::kWaited, task::encode_plain(uint32_t{script.byte()}));
      case 4:
        return send(MessageType::kStatusQuery, script.text(script.byte() & 1));
      case 5:
        return send(MessageType::kQuestion, script.text(script.byte()));
      case 6: {
        const auto type = static_cast<MessageType>(script.byte());
        const uint8_t descriptors = script.byte();
        return send(type, script.text(script.byte()), descriptors % 8);
      }
      case 7:  // anything
        return send_piece(script.text(script.byte()), script.byte() % 4);
      case 8:  // of the next message
        cut_ = 1 + script.byte();
        return;
      case 9:
        return read();
      case 10:
        ::shutdown(socket_.get(), script.byte() % 2 == 0 ? SHUT_WR : SHUT_RD);
        return;
      case 11:
        hang_up(socket_.get());
        socket_ = host_.connect();
        return;
      case 12:  // this process is none of a task
        return send(MessageType::kFollow, task::encode_plain(right_hello().stamp));
      case 13:
        return send(MessageType::kCommunication,
                    task::encode_plain(
                        task::Communication{static_cast<int8_t>(script.byte()), script.byte()}));
      case 14:
        return send(MessageType::kLeft, task::encode(task::Departure{script.byte(), "p", "r"}));
      default:
        return send(MessageType::kRead, task::encode_plain(uint32_t{script.byte()}));
    }
  }

 private:
  // The pid of the task, of any client, that has the number.
  int32_t pid_of(uint8_t number) const {
    return (*host_).space().record(number % kHostCapacity)->pid;
  }

  void greet(Script& script) {
    task::Hello hello = right_hello();
    const uint8_t how = script.byte();
    hello.keeps_tasks = how & 1;
    hello.group_tasks = how >> 4;
    hello.group[0] = static_cast<char>('a' + (how >> 1 & 1));
    if ((how & 12) == 12) hello.key[script.byte() % sizeof hello.key] ^= 1;
    send(MessageType::kHello, task::encode_plain(hello));
  }

  void launch(Script& script) {
    task::Launch launch = launch_of(script.byte());
    const uint8_t how = script.byte();
    launch.wanted_number = static_cast<int8_t>(script.byte());
    launch.stands_for = std::max<int64_t>(launch.wanted_number, -1);
    for (uint8_t n = 0; n < how % 4; ++n) launch.descriptor_numbers.push_back(n * (how >> 4) + n);
    if ((how & 4) != 0) launch.inherit.limits[RLIMIT_STACK].rlim_cur = script.number<uint64_t>();
    if ((how & 8) != 0) {
      launch.inherit.signal_mask = script.number<uint64_t>();
      launch.inherit.ignored_signals = script.number<uint64_t>();
      launch.inherit.cpu_mask_bytes = script.byte();
      launch.inherit.memory_policy = static_cast<int8_t>(script.byte());
      launch.inherit.process_group = static_cast<int8_t>(script.byte());
    }
    std::string payload = task::encode(launch);
    const uint8_t damage = script.byte();
    if (damage % 4 == 1) payload[script.number<uint16_t>() % payload.size()] ^= script.byte();
    if (damage % 4 == 2) payload.resize(script.number<uint16_t>() % payload.size());
    send(MessageType::kLaunch, payload, (how % 4 + 1 + (damage % 4 == 3 ? damage >> 2 : 0)) % 8);
  }

  void send(MessageType type, const std::string& payload, size_t descriptors = 0) {
    const uint32_t words[] = {0x4e414746, static_cast<uint32_t>(type),
                              static_cast<uint32_t>(payload.size()),
                              static_cast<uint32_t>(descriptors)};
    const std::string frame(reinterpret_cast<const char*>(words), sizeof words);
    const std::string all = frame + payload;
    const size_t cut = std::min(std::exchange(cut_, 0), all.size());
    if (cut != 0) {
      send_piece(all.substr(0, cut), descriptors);
      (*host_).serve_once(0);
    }
    send_piece(all.substr(cut), cut == 0 ? descriptors : 0);
  }

  void send_piece(const std::string& bytes, size_t descriptors) {
    const base::Fd folder(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
    iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (descriptors > 0) {
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
      cmsghdr* const header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
      for (size_t n = 0; n < descriptors; ++n) {
        const int fd = folder.get();
        std::memcpy(CMSG_DATA(header) + n * sizeof fd, &fd, sizeof fd);
      }
    }
    ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void read() {
    static char room[1 << 20];
    while (::recv(socket_.get(), room, sizeof room, MSG_DONTWAIT) > 0) {
    }
  }

  HostUnderTest& host_;
  base::Fd socket_;
  size_t cut_ = 0;
};

inline size_t open_descriptors() {
  DIR* const folder = ::opendir("/proc/self/fd");
  size_t count = 0;
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

// The liars have lied, and are still there or not.
inline void check_witness(HostUnderTest& host, Honest& witness, const task::Started& task) {
  if (witness.was_told_something()) broken("a client's task is out of reach of other clients");
  const task::JobStatus status = Honest(host).status();
  const auto is_of_witness = [&](const task::TaskStatus& one) {
    return one.number == task.number && one.pid == task.pid &&
           one.state != task::TaskState::kEnded && one.program == program(0);
  };
  if (std::none_of(status.tasks.begin(), status.tasks.end(), is_of_witness))
    broken("the task of the witness is in the status");
}

inline void finish(task::Host& host) {
  const Deadline deadline;
  do {
    host.serve_once(1);
    if (deadline.has_passed()) broken("a host without clients is done");
  } while (!host.has_ended());
}

// A thread that does not block the signal would take it from the host.
class BlockedSignal {
 public:
  BlockedSignal() {
    sigset_t of_tasks;
    ::sigemptyset(&of_tasks);
    ::sigaddset(&of_tasks, SIGCHLD);
    ::pthread_sigmask(SIG_BLOCK, &of_tasks, &before_);
  }
  ~BlockedSignal() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

inline void play_liars(const uint8_t* data, size_t bytes) {
  HostUnderTest host;
  {
    Honest witness(host);
    const task::Started task = witness.launch_waiting_task();
    Liar liars[] = {Liar(host), Liar(host)};
    for (Script script(data, bytes); !script.at_end();) {
      const uint8_t what = script.byte();
      liars[what >> 7].step(what & 0x3f, script);
      if ((what & 0x40) == 0) (*host).serve_once(0);
    }
    check_witness(host, witness, task);
  }
  finish(*host);
}

inline void serve_liars(const uint8_t* data, size_t bytes) {
  program(0);
  own_reaper();
  const size_t open_before = open_descriptors();
  const BlockedSignal blocked;
  play_liars(data, bytes);
  if (open_descriptors() != open_before) broken("no descriptor stays open");
}

}  // namespace nagaya::fuzz
