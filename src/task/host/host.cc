// SPDX-License-Identifier: BSD-3-Clause
#include "task/host/host.h"

#include <signal.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/random.h"
#include "task/host/session_folder.h"
#include "task/load/freestanding/redirect.h"
#include "task/load/installation.h"

namespace nagaya::task {
namespace {

using base::Error;
using namespace std::chrono_literals;

constexpr auto kGreetingLimit = 10s;
// The idle time after which a host ends if its launcher cannot be watched and some tasks of the job
// were never launched.
constexpr auto kIdleLimit = 60s;
constexpr auto kPause = 1s;     // how long the listener is not watched (pause_listener)
constexpr auto kLogPause = 1s;  // between two lines about refused messages
// How long the host waits for events at most: usually; while a client is slow to read; while a
// record waits for the upper floor or an end for memory to report it.
constexpr int kTickMs = 1000;
constexpr int kFlushTickMs = 2;
constexpr int kRetryTickMs = 10;

// Compares two keys in constant time, so that the time does not tell where they differ.
bool same_key(const uint8_t (&a)[16], const uint8_t (&b)[16]) {
  uint8_t difference = 0;
  for (size_t n = 0; n < sizeof a; ++n) difference |= static_cast<uint8_t>(a[n] ^ b[n]);
  return difference == 0;
}

// Opens a signalfd for the two signals that the host handles; it blocks all. SIGCHLD: a task has
// ended (a child of the reaper; a pidfd for each would be copied into every further task). SIGTERM:
// the host ends, and all tasks with it.
int open_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  ::sigaddset(&set, SIGTERM);
  return ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

// Returns the address space for the space heap [bytes]: the default, or at most a quarter of a
// limit that counts addresses (ulimit -v, -d), in whole MiB.
uint64_t heap_bytes() {
  uint64_t bytes = SpaceSettings{}.heap_bytes;
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      bytes = std::min<uint64_t>(bytes, limit.rlim_cur / 4 & ~((1ull << 20) - 1));
  }
  return bytes;
}

// Returns the path of nagaya-execute; "" if it is not installed, others could have changed it, or
// its path is too long.
std::string find_execute_tool() try {
  const std::string tool = installed_program("nagaya-execute");
  return tool.size() < sizeof SpaceHeader::execute_tool ? tool : "";
} catch (const std::exception&) {
  return "";
}

int open_pidfd(int pid) {
  return pid > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)) : -1;
}

TaskStatus status_of(const TaskRecord& record) {
  return {.number = record.number,
          .state = record.state.load(std::memory_order_acquire),
          .pid = record.pid.load(std::memory_order_relaxed),
          .wait_status = record.wait_status.load(std::memory_order_relaxed),
          .home = record.home,
          .range = record.range,
          .home_bytes = kHomeBytes,
          .range_bytes = record.range_bytes,
          .escaped = record.escaped.load(std::memory_order_relaxed),
          .stands_for = record.stands_for,
          .program = "",
          .command = "",
          .group = ""};
}

}  // namespace

Error as_error(const std::exception& error) {
  if (const auto* ours = dynamic_cast<const Error*>(&error)) return *ours;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return {-ENOMEM, "the host is out of memory"};
  return {-EIO, error.what()};
}

Host::Host(const HostSettings& settings, base::Fd& listener, const SocketPlace& place,
           Reaper& reaper)
    : settings_(settings),
      log_(settings.log_path[0] == '\0' ? HostLog() : HostLog(settings.log_path)),
      listener_(listener),
      place_(place),
      reaper_(reaper),
      epoll_(base::checked_fd(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      signals_(base::checked_fd(open_signals(), "signalfd")),
      launcher_(open_pidfd(settings.launcher_pid)),
      space_({settings.expected_tasks, settings.capacity, heap_bytes()}),
      loader_(space_.header()) {
  SpaceHeader& header = space_.header();
  std::copy(std::begin(settings.key), std::end(settings.key), header.key);
  std::copy(std::begin(settings.socket_path), std::end(settings.socket_path), header.host_socket);
  find_execute_tool().copy(header.execute_tool, sizeof header.execute_tool - 1);
  header.identity = base::random_number();
  awaiting_upper_release_.reserve(header.capacity);  // so that closing needs no memory
  tasks_of_ended_groups_.reserve(header.capacity);
  header.redirect_table = arch::install_redirect_table();
  header.can_read_thread_pointer = arch::can_read_thread_pointer(::getauxval(AT_HWCAP2)) ? 1 : 0;
  redirect_space = &header;
  watch(listener_.get());
  watch(signals_.get());
  watch(reaper_.fd());
  if (launcher_) watch(launcher_.get());
  launcher_gone_ =
      settings.launcher_pid > 0 && ::kill(settings.launcher_pid, 0) != 0 && errno == ESRCH;
}

// Logs the number of refused messages, at most once a second however many strangers send.
void Host::log_refused(Clock::time_point now) try {
  const uint64_t refused = upper_->refused_messages();
  if (refused == logged_refused_ || now < next_log_) return;
  log_.say("job " + std::filesystem::path(settings_.socket_path).stem().string() + ": refused " +
           std::to_string(refused) +
           " messages in all that came by the network and did not prove to be of this job");
  logged_refused_ = refused;
  next_log_ = now + kLogPause;
} catch (const std::exception&) {
  return;  // out of memory: a later call logs them
}

// Removes the socket only once: another host of this job may listen at the same path later.
void Host::stop_listening() {
  if (!listener_) return;
  remove_session(std::filesystem::path(place_.path).replace_extension(kSessionSuffix));
  remove_socket(place_);
  listener_.reset();
}

void Host::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return;
  base::throw_errno(errno == ENOSPC
                        ? "cannot watch a connection: raise the sysctl fs.epoll.max_user_watches"
                        : "cannot watch a connection");
}

// Cannot fail: epoll has an entry for the listener already.
void Host::watch_listener(bool is_wanted) {
  epoll_event event{};
  if (is_wanted) event.events = EPOLLIN;
  event.data.fd = listener_.get();
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listener_.get(), &event);
}

void Host::run() {
  stop_at(StopPoint::kHostServing);
  while (!has_ended()) serve_once(tick_ms_);
  log_refused(next_log_);
  stop_at(StopPoint::kHostLeaving);
  stop_listening();
}

void Host::serve_once(int timeout_ms) {
  epoll_event events[64];
  const int count =
      ::epoll_wait(epoll_.get(), events, std::size(events), ended_.empty() ? timeout_ms : 0);
  for (int n = 0; n < count; ++n) {
    const int fd = events[n].data.fd;
    if (fd == listener_.get()) {
      accept_clients();
    } else if (fd == signals_.get()) {
      read_signals();
    } else if (fd == launcher_.get()) {
      launcher_gone_ = true;
      launcher_.reset();
    } else if (auto client = clients_.find(fd); client != clients_.end()) {
      serve(client->second);
    }
  }
  reap_ended();
  close_released();
  space_.free_closed();
  watch_listener_again();
  report_late_ends();
  flush_clients();
  drop_late_clients();
  log_refused(Clock::now());
  if (is_in_use()) idle_since_ = Clock::now();
}

// Returns true if the host has no task and no client, and none that was announced is still to come.
// If a host ended as soon as it is idle, it would split a job whose tasks start slowly.
bool Host::is_over() const {
  if (has_tasks() ||
      has_clients([](const Client& client) { return client.greeted && !is_orphan(client); }))
    return false;
  if (all_came_and_went()) return true;
  return !is_in_use() && (launcher_gone_ || Clock::now() - idle_since_ > kIdleLimit);
}

// Returns true if the host has a task or a client. A client that only asked for the status does not
// count. A client that has connected but not greeted counts: it may be about to greet.
bool Host::is_in_use() const {
  return has_tasks() || has_clients([](const Client& client) {
           return !client.is_status_only && !is_orphan(client);
         });
}

bool Host::all_came_and_went() const {
  const bool is_complete = std::all_of(groups_.begin(), groups_.end(), [](const auto& group) {
    return group.second.expected != 0 && group.second.ended >= group.second.expected;
  });
  const bool has_creator = has_clients([](const Client& client) { return client.keeps_tasks; });
  return had_clients_ && !has_tasks() && is_complete && !has_creator;
}

void Host::count_end(const std::string& group) {
  if (const auto found = groups_.find(group); found != groups_.end()) ++found->second.ended;
}

void Host::accept_clients() {
  for (;;) {
    base::Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket && errno == EAGAIN) return;
    if (!socket && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!socket) return pause_listener();
    if (!is_of_same_user(socket)) continue;
    stop_at(StopPoint::kHostAccepted);
    admit(std::move(socket));
  }
}

// Adds an accepted client. If epoll cannot watch it, tells it why although it has not greeted: it
// is of the same user.
void Host::admit(base::Fd socket) try {
  const int fd = socket.get();
  Client& client =
      clients_.emplace(fd, Client(std::move(socket), Clock::now() + kGreetingLimit)).first->second;
  try {
    watch(fd);
  } catch (const Error& error) {
    tell_why_dropped(client, error);
    drop(fd);
  }
} catch (const std::exception&) {
  return;  // out of memory: the destructor has closed the connection
}

// Called when the host is out of descriptors or memory. Stops watching the listener for a while:
// otherwise a client that waits to be accepted would wake the host again and again for nothing.
void Host::pause_listener() {
  watch_listener(false);
  listener_paused_until_ = Clock::now() + kPause;
}

void Host::watch_listener_again() {
  if (!listener_paused_until_ || Clock::now() < *listener_paused_until_ || !listener_) return;
  listener_paused_until_.reset();
  watch_listener(true);
}

// Sends kept bytes to clients that are slow to read; shortens the poll timeout while there are any.
void Host::flush_clients() {
  tick_ms_ = awaiting_upper_release_.empty() && unreported_ends_.empty() ? kTickMs : kRetryTickMs;
  for (auto at = clients_.begin(); at != clients_.end();) {
    auto& [fd, client] = *at++;
    try {
      if (!client.channel.flush()) tick_ms_ = kFlushTickMs;
    } catch (const Error&) {
      drop(fd);
    }
  }
}

void Host::drop_late_clients() {
  for (auto at = clients_.begin(); at != clients_.end();) {
    auto& [fd, client] = *at++;
    const bool is_late = !client.greeted && client.reads == 0;
    if (is_late && Clock::now() > client.deadline) drop(fd);
  }
}

// Handles the messages of a client. A client that has not greeted with the key gets no error text.
void Host::serve(Client& client) {
  const int fd = client.channel.fd();
  try {
    auto message = client.channel.receive();
    for (; message; message = client.channel.take_message()) handle(client, std::move(*message));
  } catch (const std::exception& error) {
    if (client.greeted) tell_why_dropped(client, error);
    drop(fd);
  }
}

void Host::tell_why_dropped(Client& client, const std::exception& reason) try {
  const Error error = as_error(reason);
  client.channel.send(
      MessageType::kRefused,
      encode_refusal({error.code(), std::string("the host of the job: ") + error.what()}));
} catch (const std::exception&) {
  return;  // the client has disconnected, or there is no memory
}

// Removes a client that has disconnected and kills its tasks, and those of its followers; the tasks
// of a creator are freed once they have ended.
void Host::drop(int client_fd) {
  auto found = clients_.find(client_fd);
  const std::set<uint32_t> unwaited = std::move(found->second.unwaited);
  const bool has_read = found->second.reads != 0;
  clients_.erase(found);
  if (has_read) upper_->set_readers(all_that_is_read());
  const auto mark_gone = [client_fd](int& socket) {
    if (socket == client_fd) socket = -1;
  };
  for (auto& [fd, client] : clients_) mark_gone(client.leader);
  note_ended(true);
  for (const auto& [pid, task] : tasks_)
    if (task->client == client_fd || task->leader == client_fd) ::kill(pid, SIGKILL);
  for (Tasks* tasks : {&tasks_, &ended_}) {
    for (const auto& [pid, task] : *tasks) {
      mark_gone(task->client);
      mark_gone(task->leader);
    }
  }
  std::erase_if(unreported_ends_, [&](const auto& one) { return one.second->client == client_fd; });
  for (const auto& [pid, task] : unreported_ends_) mark_gone(task->leader);
  for (uint32_t number : unwaited) {
    TaskRecord& record = *space_.header().record(number);
    if (record.state.load(std::memory_order_relaxed) == TaskState::kEnded) close(record);
  }
}

void Host::handle(Client& client, Message message) {
  if (message.type == MessageType::kStatusQuery) return tell_status(client);
  if (message.type == MessageType::kRead)
    return begin_reading(client, decode_plain<uint32_t>(message.payload));
  if (!client.greeted && message.type != MessageType::kHello &&
      message.type != MessageType::kFollow)
    throw Error(-EPROTO, "the first message must be Hello or Follow");
  switch (message.type) {
    case MessageType::kHello:
      return greet(client, decode_plain<Hello>(message.payload));
    case MessageType::kFollow:
      return follow(client, decode_plain<Stamp>(message.payload));
    case MessageType::kLaunch:
      return launch(client, std::move(message));
    case MessageType::kSignal:
      return signal_task(client, decode_plain<SignalRequest>(message.payload));
    case MessageType::kWaited:
      return close_waited(client, decode_plain<uint32_t>(message.payload));
    case MessageType::kCommunication:
      return note_communication(client, decode_plain<Communication>(message.payload));
    case MessageType::kLeft:
      return note_left(client, decode_departure(message.payload));
    case MessageType::kQuestion:
      return answer(client, std::move(message));
    default:
      throw Error(-EPROTO, "a message that only hosts send");
  }
}

void Host::answer(Client& client, Message question) {
  try {
    client.channel.send(MessageType::kAnswer,
                        upper_->answer(question.payload, std::move(question.descriptors)));
  } catch (const Error& error) {
    client.channel.send(MessageType::kRefused, encode_refusal(error));
  }
}

void Host::tell_status(Client& client) {
  client.is_status_only = !client.greeted;
  const SpaceHeader& space = space_.header();
  JobStatus status{.host_pid = ::getpid(),
                   .launcher_pid = settings_.launcher_pid,
                   .expected_tasks = space.expected_tasks,
                   .capacity = space.capacity,
                   .refused_messages = upper_->refused_messages(),
                   .requests = upper_->requests(),
                   .departures = {},
                   .tasks = {}};
  for (const auto& [fd, other] : clients_)
    for (const auto& [rank, departure] : other.left) status.departures.push_back(departure);
  std::map<const TaskRecord*, const LiveTask*> live;
  for (const auto& [pid, task] : tasks_) live[task->record] = task.get();
  for (uint32_t number = 0; number < space.capacity; ++number) {
    const TaskRecord& record = *space.record(number);
    const auto found = live.find(&record);
    TaskStatus task = status_of(record);
    if (found != live.end()) {
      task.pid = found->second->pid;  // the task itself stores its pid in the record later
      task.program = found->second->program;
      task.command = found->second->command;
      task.group = found->second->group;
    }
    if (task.state != TaskState::kFree) status.tasks.push_back(task);
  }
  client.channel.send(MessageType::kStatus, encode(status));
}

uint32_t Host::all_that_is_read() const {
  uint32_t all = 0;
  for (const auto& [fd, client] : clients_) all |= client.reads;
  return all;
}

// Lets a client read what the tasks do, until its connection ends.
void Host::begin_reading(Client& client, uint32_t what) {
  if (what == 0 || client.reads != 0) throw Error(-EPROTO, "malformed message: nothing to read");
  client.is_status_only = !client.greeted;
  try {
    const int file = upper_->set_readers(all_that_is_read() | what);
    client.reads = what;
    client.channel.send(MessageType::kReading, "", {file});
  } catch (const Error& error) {
    client.channel.send(MessageType::kRefused, encode_refusal(error));
  }
}

void Host::check_version(Client& client, const Stamp& stamp) {
  if (stamp.matches(sizeof(SpaceHeader))) return;
  client.channel.send(MessageType::kRefused,
                      encode_refusal({-EPROTO,
                                      "this nagaya and the host of the job have "
                                      "different versions: use one installation"}));
  throw Error(-EPROTO, "version");
}

void Host::greet(Client& client, const Hello& hello) {
  if (client.greeted) throw Error(-EPROTO, "a second Hello");
  if (!same_key(hello.key, settings_.key)) throw Error(-EACCES, "wrong key");
  check_version(client, hello.stamp);
  client.greeted = had_clients_ = true;
  client.keeps_tasks = hello.keeps_tasks != 0;
  client.group.assign(hello.group, strnlen(hello.group, sizeof hello.group));
  if (!client.keeps_tasks) {
    Group& group = groups_[client.group];
    group.expected = std::max(group.expected, hello.group_tasks);
  }
  client.channel.send(MessageType::kWelcome,
                      encode_plain(Welcome{space_.header().stamp, client.rank, 0}));
  stop_at(StopPoint::kHostGreeted);
}

void Host::signal_task(Client& client, const SignalRequest& request) {
  note_ended(true);
  const auto task = tasks_.find(request.pid);
  if (task != tasks_.end() && task->second->client == client.channel.fd())
    ::kill(request.pid, request.signal);
}

void Host::close_waited(Client& client, uint32_t number) {
  if (!client.unwaited.contains(number)) return;
  TaskRecord& record = *space_.header().record(number);
  if (record.state.load(std::memory_order_relaxed) != TaskState::kEnded) return;
  client.unwaited.erase(number);
  if (space_.is_held(record))
    tasks_of_ended_groups_.push_back(&record);
  else
    close(record);
}

void Host::read_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info)
    terminated_ = terminated_ || info.ssi_signo == SIGTERM;
  next_look_ = {};
}

}  // namespace nagaya::task
