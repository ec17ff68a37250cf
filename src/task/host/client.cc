// SPDX-License-Identifier: BSD-3-Clause
#include "task/host/client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "task/host/socket_folder.h"
#include "task/host/stop_choice.h"

namespace nagaya::task {
namespace {

using base::Error;

constexpr int kJoinTries = 100;
constexpr int kStartTries = 3;  // starts of a host that dies while it starts
constexpr int kAnswerLimitMs = 5000;
constexpr int kGreetingLimitS = 15;  // longer than a host on a busy node takes to start

// Removes the socket of a host that has died of `error`, and announces the death while the other
// clients wait for the folder's lock. Returns false if another client has removed the socket, or a
// host listens there.
bool remove_socket_and_announce(const SocketPlace& place, const Error& error,
                                const Announcement& announce) {
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

// Returns a connection to the job's host. Sets `host` to its pidfd if this process has started it.
base::Fd connect_or_start(const Job& job, const SocketPlace& place, base::Fd* host) {
  base::Fd socket = connect_to_host(place);
  if (socket) return socket;
  if (!job.existing_socket.empty()) throw Error(-ESRCH, "the host of this space is gone");
  // One starter at a time; a process that waited for the lock finds the host that its holder
  // started.
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

Stamp own_stamp() {
  return {kMagic, kAbiMajor, kAbiMinor, sizeof(SpaceHeader), 0};
}

Hello hello_of(const Job& job) {
  Hello hello{};
  hello.stamp = own_stamp();
  std::copy(std::begin(job.key), std::end(job.key), hello.key);
  hello.group_tasks = job.group_tasks;
  hello.keeps_tasks = job.keeps_tasks ? 1 : 0;
  std::copy_n(job.group.begin(), std::min(job.group.size(), sizeof hello.group - 1), hello.group);
  return hello;
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
  int deaths = 0;
  for (int n = 0; n < kJoinTries; ++n) {
    const SocketPlace place = place_of(job);
    try {
      return join_at(job, place);
    } catch (const Error& error) {
      // A host that was just leaving has removed its socket, `nagaya clean` has removed the empty
      // folder, or a signal has killed the starting host: the next try starts a new one.
      const bool has_left =
          error.code() == -EPIPE && !remove_socket_and_announce(place, error, announce);
      const bool has_died = error.code() == -ECHILD && ++deaths < kStartTries;
      if (!has_left && !has_died && error.code() != -ESTALE) throw;
    }
    ::usleep(1000);
  }
  throw Error(-ECONNREFUSED,
              place_of(job).path +
                  ": the host of the job refuses this process, which seems to have "
                  "another key: start all processes of the job by one launcher, with "
                  "the variables that it sets");
}

Client Client::join_at(const Job& job, const SocketPlace& place) {
  base::Fd host;
  base::Fd socket = connect_or_start(job, place, &host);
  stop_at(StopPoint::kClientConnected);
  Client client(Channel(std::move(socket)), place.path, std::move(host));
  client.greet(MessageType::kHello, encode_plain(hello_of(job)));
  stop_at(StopPoint::kClientGreeted);
  return client;
}

Client Client::follow(const std::string& socket_path) {
  base::Fd socket = connect_to_host(existing_place(socket_path));
  if (!socket) throw Error(-ESRCH, "the host of this space is gone");
  Client client(Channel(std::move(socket)), socket_path, {});
  client.greet(MessageType::kFollow, encode_plain(own_stamp()));
  return client;
}

void Client::greet(MessageType type, const std::string& greeting) {
  send(type, greeting);
  channel_.limit_wait(kGreetingLimitS);
  const Message answer = receive();
  channel_.limit_wait(0);
  if (answer.type == MessageType::kRefused) throw decode_refusal(answer.payload);
  if (answer.type != MessageType::kWelcome) throw Error(-EPROTO, "malformed message: no welcome");
  rank_ = decode_plain<Welcome>(answer.payload).rank;
}

// Throws `error`; turns the error of a broken connection into one that reports the host's death.
[[noreturn]] static void rethrow_as_client(const Error& error) {
  if (error.code() != -EPIPE && error.code() != -ECONNRESET) throw error;
  throw Error(-EPIPE, "the host of the job has died, and its tasks with it");
}

// Called after the host has ended the connection. Returns its refusal if that was its last message.
std::optional<Error> Client::reason_of_end() {
  try {
    while (const auto message = channel_.receive())
      if (message->type == MessageType::kRefused) return decode_refusal(message->payload);
  } catch (const Error&) {
    return std::nullopt;  // the end of the stream
  }
  return std::nullopt;
}

void Client::send(MessageType type, const std::string& payload,
                  const std::vector<int>& descriptors) try {
  channel_.send(type, payload, descriptors);
  if (!channel_.flush()) throw Error(-ENOMEM, "there is no memory to talk to the host of the job");
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

// Returns the host's answer to the last request; throws its refusal. Keeps the ends of tasks that
// arrive before it for poll_ended().
Message Client::receive_answer(MessageType type) {
  for (;;) {
    Message message = receive();
    if (message.type == type) return message;
    if (message.type == MessageType::kRefused) throw decode_refusal(message.payload);
    if (message.type != MessageType::kEnded) throw Error(-EPROTO, "malformed message: no answer");
    ended_.push_back(decode_end(message.payload));
  }
}

Started Client::launch(const Launch& launch, const std::vector<int>& descriptors) {
  send(MessageType::kLaunch, encode(launch), descriptors);
  stop_at(StopPoint::kClientLaunchSent);
  const Message answer = receive_answer(MessageType::kStarted);
  stop_at(StopPoint::kClientStarted);
  return decode_plain<Started>(answer.payload);
}

std::string Client::ask(const std::string& question, const std::vector<int>& descriptors) {
  send(MessageType::kQuestion, question, descriptors);
  return receive_answer(MessageType::kAnswer).payload;
}

void Client::end_job() {
  ::shutdown(channel_.fd(), SHUT_RDWR);
  if (!host_) return;
  pollfd end{host_.get(), POLLIN, 0};
  while (::poll(&end, 1, -1) < 0 && errno == EINTR) continue;
  host_.reset();
  remove_stale_socket(socket_path_);  // of a host that was killed
}

std::optional<End> Client::poll_ended() {
  if (ended_.empty()) {
    std::optional<Message> message = channel_.take_message();
    pollfd readable{channel_.fd(), POLLIN, 0};
    if (!message && ::poll(&readable, 1, 0) > 0) message = receive();
    if (!message) return std::nullopt;
    if (message->type == MessageType::kRefused) throw decode_refusal(message->payload);
    if (message->type != MessageType::kEnded) throw Error(-EPROTO, "malformed message: no end");
    ended_.push_back(decode_end(message->payload));
  }
  stop_at(StopPoint::kClientEnded);
  End end = std::move(ended_.front());
  ended_.pop_front();
  return end;
}

void Client::signal(int32_t pid, int signal) {
  send(MessageType::kSignal, encode_plain(SignalRequest{pid, signal}));
}

void Client::waited(uint32_t number) {
  send(MessageType::kWaited, encode_plain(number));
}

void Client::tell_communication(const Communication& communication) {
  send(MessageType::kCommunication, encode_plain(communication));
}

bool Client::tell_left(const Departure& departure) {
  send(MessageType::kLeft, encode(departure));
  return !receive_answer(MessageType::kAnswer).payload.empty();
}

bool remove_stale_socket(const SocketPlace& place) {
  return remove_socket_and_announce(place, Error(-EPIPE, place.path), {});
}

bool remove_stale_socket(const std::string& socket_path) {
  const std::optional<SocketPlace> place = find_place(socket_path);
  return place && remove_stale_socket(*place);
}

void announce_host_death(const std::string& socket_path, const Error& error,
                         const Announcement& announce) {
  const std::optional<SocketPlace> place = find_place(socket_path);
  // Here every client announces, because otherwise none would: the process that removed the folder,
  // or started the new host, has not announced the death.
  if (!place || (!remove_socket_and_announce(*place, error, announce) && is_served(*place)))
    announce(error);
}

namespace {

// Asks the host that listens at `socket_path`, and waits for the answer. Returns the connection,
// too.
std::pair<base::Fd, Message> ask_host(const std::string& socket_path, MessageType type,
                                      const std::string& question) {
  base::Fd socket = connect_to_host(existing_place(socket_path));
  if (!socket) throw Error(-ESRCH, socket_path + ": nobody listens there");
  const int fd = socket.get();
  Channel channel(std::move(socket));
  channel.send(type, question);
  pollfd readable{fd, POLLIN, 0};
  for (;;) {
    const int ready = ::poll(&readable, 1, kAnswerLimitMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) throw Error(-ETIMEDOUT, socket_path + ": the host does not answer");
    if (auto answer = channel.receive()) return {channel.release(), std::move(*answer)};
  }
}

}  // namespace

JobStatus query_status(const std::string& socket_path) {
  return decode_status(ask_host(socket_path, MessageType::kStatusQuery, "").second.payload);
}

Reading begin_reading(const std::string& socket_path, uint32_t what) {
  auto [connection, answer] = ask_host(socket_path, MessageType::kRead, encode_plain(what));
  if (answer.type == MessageType::kRefused) throw decode_refusal(answer.payload);
  if (answer.type != MessageType::kReading || answer.descriptors.size() != 1)
    throw Error(-EPROTO, socket_path + ": malformed answer");
  return {std::move(connection), std::move(answer.descriptors[0])};
}

}  // namespace nagaya::task
