// SPDX-License-Identifier: BSD-3-Clause
// client.h - the client's end of the join protocol: finds or starts the host of a job, launches
// tasks in it. Used by proxies and by creators of spaces. Not thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <string>

#include "task/host/host_start.h"
#include "task/host/wire.h"

namespace nagaya::task {

// Returns the Job with which the calling task joins its own space as a client.
Job job_of_own_space(const TaskRecord& self);

// Tells the user, if set, that a host has died. One of the host's clients calls it before the other
// clients learn of the death: a launcher ends the whole job when the first process ends.
using Announcement = std::function<void(const base::Error&)>;

class Client {
 public:
  // Connects to the job's host; starts it when there is none. Throws Error. When the host dies
  // meanwhile (-EPIPE), calls `announce` with the error first, under the rule of
  // announce_host_death().
  static Client join(const Job& job, const Announcement& announce = {});

  // Connects to the host at `socket_path` as a process of one of its tasks, which stands for a
  // rank. Throws Error.
  static Client follow(const std::string& socket_path);

  // Takes over a connection that this process made before it executed another program (the waiter).
  static Client resume(base::Fd socket, const std::string& socket_path);

  // Starts a task. `descriptors` are those that launch.descriptor_numbers name, in order, then
  // the working directory. Throws Error (the host's message) when it cannot be started.
  Started launch(const Launch& launch, const std::vector<int>& descriptors);

  // Returns the next task that has ended, if one has. Other calls may have received such messages,
  // so call this before waiting for fd() to be readable. Throws Error -EPIPE when the host is gone.
  std::optional<End> poll_ended();

  void signal(int32_t pid, int signal);
  void waited(uint32_t number);

  // Tells that the MPI of a rank has started, or has ended: programs that the rank executes
  // meanwhile are ordinary processes.
  void tell_communication(const Communication& communication);

  // Tells that a program of a rank will run outside of the space: of a follower's own rank, or of a
  // rank whose first program this client has launched. Returns true if it is the rank's first one.
  bool tell_left(const Departure& departure);

  // Sends a question, and copies of descriptors, to the floors above (upper_floor.h) in the host.
  // Returns their answer. Throws Error with their refusal.
  std::string ask(const std::string& question, const std::vector<int>& descriptors = {});

  int fd() const { return channel_.fd(); }
  int32_t rank() const { return rank_; }  // a follower's: its index on this node
  // Returns true if this client holds no message that was received but not yet returned.
  bool is_idle() const { return ended_.empty() && channel_.is_empty(); }
  const std::string& socket_path() const { return socket_path_; }
  // Ends the connection of a creator, and with it its tasks. If this client started the host, waits
  // until that has ended, too. Forked processes may still have the connection open.
  void end_job();

 private:
  Client(Channel channel, const std::string& socket_path, base::Fd host)
      : channel_(std::move(channel)), socket_path_(socket_path), host_(std::move(host)) {}
  static Client join_at(const Job& job, const SocketPlace& place);
  void send(MessageType type, const std::string& payload, const std::vector<int>& descriptors = {});
  Message receive();
  Message receive_answer(MessageType type);
  std::optional<base::Error> reason_of_end();
  void greet(MessageType type, const std::string& greeting);

  Channel channel_;
  std::string socket_path_;
  base::Fd host_;
  int32_t rank_ = -1;
  std::deque<End> ended_;
};

// Removes a socket on which no process listens. Returns false if one listens or there is no socket.
bool remove_stale_socket(const SocketPlace& place);
bool remove_stale_socket(const std::string& socket_path);
// Called after the host at `socket_path` has died of `error`. Removes its socket. Only one of its
// clients calls `announce`; if a new host listens there already, all of them do.
void announce_host_death(const std::string& socket_path, const base::Error& error,
                         const Announcement& announce);
// A reader of what the tasks of a space do. They write it into `file` while `connection` lasts.
struct Reading {
  base::Fd connection, file;
};
// Becomes a reader at the host that listens at `socket_path`. `what`: bits that a floor above
// defines (llcl/board/activity.h). Throws Error as query_status(), or with the host's refusal.
Reading begin_reading(const std::string& socket_path, uint32_t what);
// Asks the host that listens at `socket_path` for its job's status. Throws Error: -ESRCH when
// nobody listens there (a stale socket), -ETIMEDOUT when the host does not answer, -EPERM when the
// folder or the host there is not this user's.
JobStatus query_status(const std::string& socket_path);

}  // namespace nagaya::task
