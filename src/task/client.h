// SPDX-License-Identifier: BSD-3-Clause
// client.h - the other end of the join protocol: finds or starts the host of a job, launches
// tasks in it. Used by proxies and by creators of spaces. Not thread-safe.
#pragma once

#include <deque>
#include <string>

#include "task/host_settings.h"
#include "task/wire.h"

namespace nagaya::task {

// Which job, and how its host is to be started if this client is the first.
struct Job {
  std::string name;      // names the socket: the same for all clients of the job on this node
  uint8_t key[16] = {};  // the secret that the job's processes share
  std::string group;     // counts the tasks to come: one per job step of the launcher
  uint32_t group_tasks = 0;
  uint32_t capacity = 0;
  int32_t launcher_pid = 0;
  bool keeps_tasks = false;
  std::string existing_socket;  // of a host that runs already: join only this one, start none
};

class Client {
 public:
  // Connects to the job's host; starts it when there is none. Throws Error.
  static Client join(const Job& job);

  // Starts a task. `descriptors` are those that launch.descriptor_numbers name, in order, then
  // the working directory. Throws Error (what the host said) when it cannot be started.
  Started launch(const Launch& launch, const std::vector<int>& descriptors);

  // The next task that has ended, if one has. Messages may have arrived during other calls, so
  // ask before waiting for fd() to be readable. Throws Error -EPIPE when the host is gone. A task
  // that never reached its program throws its Error first.
  std::optional<Ended> poll_ended();

  void signal(uint32_t number, int signal);
  void waited(uint32_t number);

  int fd() const { return channel_.fd(); }
  // The host, when this client started it; 0 otherwise. It is a child of this process.
  int32_t host_pid() const { return host_pid_; }

 private:
  Client(Channel channel, int32_t host_pid) : channel_(std::move(channel)), host_pid_(host_pid) {}
  Message receive();
  void greet(const Job& job);

  Channel channel_;
  int32_t host_pid_;
  std::deque<Ended> ended_;
};

// The folders in which hosts of this user may listen, those that exist.
std::vector<std::string> socket_folders();
// What the host that listens at `socket_path` says of its job. Throws Error: -ESRCH when nobody
// listens there (a stale socket), -ETIMEDOUT when the host does not answer.
JobStatus query_status(const std::string& socket_path);

// What this process passes on to a task in its stead.
Inheritance inherit_from_this_process();
// All descriptors of this process that are not close-on-exec, ascending.
std::vector<int> inheritable_descriptors();
// 16 random bytes, and the same as 32 hexadecimal digits.
void random_key(uint8_t (&key)[16]);
std::string hex(const uint8_t (&key)[16]);

}  // namespace nagaya::task
