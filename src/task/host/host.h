// SPDX-License-Identifier: BSD-3-Clause
// host.h - the process in whose memory the tasks live: accepts clients, spawns and reaps tasks.
//
// One thread, one loop. A client that stalls, lies, dies, or cannot be served for want of memory or
// descriptors costs only its own tasks.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "task/host/host_log.h"
#include "task/host/host_settings.h"
#include "task/host/reaper.h"
#include "task/host/socket_folder.h"
#include "task/host/spawner.h"
#include "task/host/upper_floor.h"
#include "task/space/space_memory.h"

namespace nagaya::task {

// Converts an exception, thrown while serving a client or starting, to the Error sent to the
// client.
base::Error as_error(const std::exception& error);

class Host {
 public:
  // `listener` is bound to `place` and listening; the host closes it, and removes the socket, as
  // soon as no further client can come. `reaper` must live longer. Throws Error.
  Host(const HostSettings& settings, base::Fd& listener, const SocketPlace& place, Reaper& reaper);

  SpaceHeader& space() { return space_.header(); }

  // Sets the floor above, which uses this host's space. Call once, before the functions below.
  void set_upper_floor(UpperFloor& floor) { upper_ = &floor; }

  // Serves until the job has ended.
  void run();

  // Does one round of run(): waits up to `timeout_ms` for events, and serves them.
  void serve_once(int timeout_ms);
  bool has_ended() const { return terminated_ || is_over(); }

 private:
  using Clock = std::chrono::steady_clock;

  // A descriptor of a rank, whatever program runs in its stead, and its number there.
  struct RankDescriptor {
    base::Fd fd;
    int32_t number;
  };
  struct Client {
    Client(base::Fd socket, Clock::time_point greeting_deadline)
        : channel(std::move(socket)), deadline(greeting_deadline), leader(channel.fd()) {}

    Channel channel;
    Clock::time_point deadline;  // for the client's greeting
    bool greeted = false;
    bool keeps_tasks = false;  // it is a creator: its ended tasks stay until it has waited for them
    bool is_status_only = false;  // it asked for the status, or reads: the job does not wait for it
    uint32_t reads = 0;           // what it reads of the tasks (UpperFloor::set_readers)
    std::string group;
    // The socket of the client whose end ends this one's tasks, too: its own; of a follower, that
    // of the client that launched the first task in the chain of wrappers (-1: gone).
    int leader;
    // Numbers of a creator's tasks, and of its followers', until it has waited for them.
    std::set<uint32_t> unwaited;
    std::map<int64_t, RankDescriptor> descriptors;  // of a launcher's ranks
    std::set<int32_t> communicating;                // a launcher's ranks whose MPI has started
    std::map<int32_t, Departure> left;              // a leader's: the first departure of each rank
    bool follows = false;  // it is a process of a task (wire.h), and this is its pid and rank:
    pid_t pid = 0;
    int32_t rank = -1;
  };
  struct Group {
    uint32_t expected = 0;
    uint32_t ended = 0;
    std::vector<TaskRecord*> tasks;  // launched so far
  };

  using Tasks = std::multimap<int, std::unique_ptr<LiveTask>>;

  void watch(int fd);
  void watch_listener(bool is_wanted);
  void accept_clients();
  void admit(base::Fd socket);
  void pause_listener();
  void watch_listener_again();
  void serve(Client& client);
  void drop(int client_fd);
  static void tell_why_dropped(Client& client, const std::exception& reason);
  void handle(Client& client, Message message);
  void answer(Client& client, Message question);
  void tell_status(Client& client);
  void begin_reading(Client& client, uint32_t what);
  uint32_t all_that_is_read() const;
  void greet(Client& client, const Hello& hello);
  static void check_version(Client& client, const Stamp& stamp);
  void follow(Client& client, const Stamp& stamp);
  const LiveTask* task_of(pid_t pid) const;
  void admit_follower(const Client& client, Launch& launch, std::vector<base::Fd>& descriptors);
  static void keep_descriptor(Client& client, const Launch& launch,
                              const std::vector<base::Fd>& descriptors);
  void add_descriptor(const Client& client, Launch& launch, std::vector<base::Fd>& descriptors);
  void free_left_record(pid_t pid);
  bool communicates(int leader, int32_t rank) const;
  void note_communication(Client& client, const Communication& communication);
  void note_left(Client& client, Departure departure);
  void launch(Client& client, Message message);
  void enter(const LiveTask& task);
  void forget(const LiveTask& task);
  void settle(const LiveTask& task);
  void signal_task(Client& client, const SignalRequest& request);
  void close_waited(Client& client, uint32_t number);
  void tell_upper_floor_of_end(const TaskRecord& record);
  void close(TaskRecord& record);
  void close_released();
  void finish(Group& group);
  void close_tasks_of_ended_groups(size_t kept);
  TaskRecord& open_record(const Launch& launch);
  void read_signals();
  void note_ended(bool waits);
  void reap_ended();
  void reap(Tasks::node_type ended);
  void report_end(Tasks::node_type ended);
  void report_late_ends();
  void flush_clients();
  void drop_late_clients();
  void stop_listening();
  bool all_came_and_went() const;
  static bool is_orphan(const Client& client) { return client.leader < 0; }
  void count_end(const std::string& group);
  bool has_tasks() const { return !tasks_.empty() || !ended_.empty(); }
  bool is_in_use() const;
  template <class Predicate>
  bool has_clients(Predicate predicate) const {
    return std::any_of(clients_.begin(), clients_.end(),
                       [&](const auto& entry) { return predicate(entry.second); });
  }
  bool is_over() const;
  void log_refused(Clock::time_point now);

  HostSettings settings_;
  HostLog log_;
  uint64_t logged_refused_ = 0;
  Clock::time_point next_log_{};
  base::Fd& listener_;
  const SocketPlace& place_;
  Reaper& reaper_;
  base::Fd epoll_;
  base::Fd signals_;   // signalfd
  base::Fd launcher_;  // pidfd
  std::optional<Clock::time_point> listener_paused_until_;
  bool launcher_gone_ = false;
  bool terminated_ = false;
  bool had_clients_ = false;
  bool had_fault_ = false;  // a task has died of a fault of its own
  int tick_ms_ = 0;         // how long to wait for events
  Clock::time_point idle_since_ = Clock::now();
  UpperFloor* upper_ = nullptr;
  SpaceMemory space_;
  std::vector<TaskRecord*> awaiting_upper_release_;  // closed once the upper floor releases them
  std::vector<TaskRecord*> tasks_of_ended_groups_;   // oldest first
  Loader loader_;
  Clock::time_point next_look_{};  // for ended tasks, without SIGCHLD
  std::map<int, Client> clients_;  // by socket
  Tasks tasks_;                    // by pid
  Tasks ended_;                    // until reap()
  Tasks unreported_ends_;          // ended; there was no memory to tell their clients
  // Launched tasks only: the number of tasks that a creator will spawn is not known.
  std::map<std::string, Group> groups_;
};

}  // namespace nagaya::task
