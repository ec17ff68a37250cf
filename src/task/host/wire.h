// SPDX-License-Identifier: BSD-3-Clause
// wire.h - the join protocol between a host and its clients (proxies, creators of spaces).
//
//   client                                     host
//   Hello {stamp, key, group}             ->
//                                         <-   Welcome, or Refused {code, text} and the end
//   Follow {stamp}                        ->   (instead of Hello, by a process of a task)
//                                         <-   Welcome {rank}, or the end
//   Launch {program, inheritance} + fds   ->
//                                         <-   Started {number, pid}, or Refused {code, text}
//   Signal {pid, signal}                  ->
//                                         <-   Ended {number, pid, wait status}, with {code, text}
//                                         if
//                                              the task never reached its program
//   Waited {number}                       ->   (frees the number; creators only)
//   Communication {rank, has_begun}       ->   (the rank's MPI has started or ended)
//   Left {rank, program, reason}          ->   (a program of a rank will run outside of the space)
//                                         <-   Answer {"1" if it is the rank's first one, else ""}
//   StatusQuery                           ->   (without a Hello, by any process of the user)
//                                         <-   Status {job, tasks}
//   Read {what}                           ->   (without a Hello, by any process of the user)
//                                         <-   Reading + the file in which tasks write what they
//                                              do as long as this connection lasts; or Refused
//   Question {of a floor above} + fds     ->
//                                         <-   Answer, or Refused {code, text}
//                                         <-   Refused {code, text} and the end: the client's
//                                              message was malformed, or could not be received
//   end of file: the host kills what is left of the client's tasks, and of its followers'.
//
// A follower is a process of a task that stands for a rank: it has executed a program (or is a
// forked child that does), and launches that program as a task that stands for the same rank. The
// host knows it by its pid, so it needs no key.
//
// Frames: frame.h. Descriptors travel beside the bytes, in order. Everything that arrives is
// checked: a malformed frame ends the connection.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/fd.h"
#include "task/host/frame.h"
#include "task/load/freestanding/start.h"
#include "task/load/program.h"
#include "task/space/space.h"

namespace nagaya::task {

struct Message {
  MessageType type;
  std::string payload;
  std::vector<base::Fd> descriptors;
};

struct Hello {
  Stamp stamp;
  uint8_t key[16];
  uint32_t group_tasks;  // how many tasks the client's group has on this node
  uint32_t keeps_tasks;  // nonzero: ended tasks stay until Waited (a creator of a space)
  char group[64];        // the job as its launcher names it
};

struct Welcome {
  Stamp stamp;
  int32_t rank;  // of a follower: its index on this node; else -1
  uint32_t reserved;
};

struct Launch {
  ProgramText text;
  Inheritance inherit;
  int64_t wanted_number = -1;
  // The rank for which the task stands: its index on this node; -1: none. A follower's is its own.
  int64_t stands_for = -1;
  // The number of a descriptor that is the rank's: programs that run in its stead later get it
  // again, even if one of them has closed it. -1: none. A follower's message has none.
  int32_t rank_descriptor = -1;
  std::vector<int32_t> descriptor_numbers;  // of all descriptors sent but the last, ascending
  // The last descriptor sent is the working directory.
};

// A host's status report about one task of its job. No secret: its user can read all of it in
// /proc.
struct TaskStatus {
  uint32_t number = 0;
  TaskState state = TaskState::kFree;
  int32_t pid = 0;
  int32_t wait_status = 0;       // as of waitpid(2), once ended
  uint64_t home = 0, range = 0;  // the partition
  uint64_t home_bytes = 0, range_bytes = 0;
  uint32_t escaped = 0;     // mappings outside the partition
  int32_t stands_for = -1;  // a rank: its index on this node; -1: none
  std::string program;      // absolute path
  std::string command;      // shown_command()
  std::string group;
};
// The end of a task. `reason` is set if the task never reached its program.
struct End : Ended {
  std::optional<base::Error> reason;
};

// The number of requests of one kind that tasks of this node have made to other nodes.
struct RequestCount {
  std::string kind;  // as the floor above names it
  uint64_t count = 0;
};
// A program of a rank that runs, or has run, outside of the space.
struct Departure {
  int32_t rank = -1;  // its index on this node
  std::string program, reason;
};
struct JobStatus {
  int32_t host_pid = 0, launcher_pid = 0;
  uint32_t expected_tasks = 0, capacity = 0;
  uint64_t refused_messages = 0;  // dropped messages of strangers from the network
  std::vector<RequestCount> requests;
  std::vector<Departure> departures;  // the first one of each rank
  std::vector<TaskStatus> tasks;      // in the order of their numbers
};

std::string encode(const Launch& launch);
std::string encode(const JobStatus& status);
std::string encode(const Departure& departure);
std::string encode_refusal(const base::Error& error);
std::string encode(const End& end);
// These throw Error -EPROTO when the payload is malformed.
Launch decode_launch(const std::string& payload);
JobStatus decode_status(const std::string& payload);
Departure decode_departure(const std::string& payload);
base::Error decode_refusal(const std::string& payload);
End decode_end(const std::string& payload);

template <class Plain>
std::string encode_plain(const Plain& plain) {
  static_assert(std::is_trivially_copyable_v<Plain>);
  return {reinterpret_cast<const char*>(&plain), sizeof plain};
}
template <class Plain>
Plain decode_plain(const std::string& payload) {
  static_assert(std::is_trivially_copyable_v<Plain>);
  if (payload.size() != sizeof(Plain))
    throw base::Error(-EPROTO, "malformed message: " + std::to_string(payload.size()) +
                                   " bytes instead of " + std::to_string(sizeof(Plain)));
  Plain plain;
  std::memcpy(&plain, payload.data(), sizeof plain);
  return plain;
}

// One end of a connection. Not thread-safe.
class Channel {
 public:
  explicit Channel(base::Fd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }
  // Gives the socket away. The channel must not be used any more.
  base::Fd release() { return std::move(socket_); }
  bool is_empty() const { return bytes_.empty(); }  // no bytes were read but not returned

  // Throws Error when the peer is gone (-EPIPE). If a non-blocking socket or the kernel has no
  // room, keeps the unsent bytes of a message without descriptors for flush(); throws -ENOBUFS
  // beyond 1 MiB. Throws std::bad_alloc before anything is sent.
  void send(MessageType type, const std::string& payload, const std::vector<int>& descriptors = {});

  // Sends the kept bytes. Returns true when none are left.
  bool flush();

  // Limits how long receive() waits for each further piece of a message [seconds]; 0: for ever.
  void limit_wait(int seconds);

  // Reads the available bytes (blocks on blocking sockets). Returns the next whole message, if one
  // has arrived. Throws Error -EPIPE at the end of the stream, -EPROTO when a message is malformed.
  std::optional<Message> receive();

  // Returns the next whole message among the bytes read before; does not read from the socket.
  std::optional<Message> take_message();

 private:
  void send_or_keep(const std::string& data);

  base::Fd socket_;
  std::string bytes_;
  std::string unsent_;
  std::deque<base::Fd> descriptors_;
};

}  // namespace nagaya::task
