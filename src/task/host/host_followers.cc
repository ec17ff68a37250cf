// SPDX-License-Identifier: BSD-3-Clause
// host_followers.cc - the host's service to the processes of its tasks: programs that a rank's
// wrapper (env, a script) executes become tasks that stand for the same rank.
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "task/host/host.h"
#include "task/host/other_process.h"

namespace nagaya::task {
namespace {

using base::Error;

// The values of TaskRecord::communicates. The task itself sets the first one.
constexpr uint32_t kByLauncher = 2;

pid_t pid_of_peer(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 ? peer.pid : 0;
}

base::Fd copy_of(const base::Fd& fd) {
  return base::checked_fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0), "the descriptor of a rank");
}

}  // namespace

void Host::follow(Client& client, const Stamp& stamp) {
  if (client.greeted) throw Error(-EPROTO, "a second greeting");
  client.pid = pid_of_peer(client.channel.fd());
  const LiveTask* const task = task_of(client.pid);
  if (task == nullptr || task->stands_for < 0 || task->leader < 0)
    throw Error(-EACCES, "no process of a rank");
  check_version(client, stamp);
  client.greeted = client.follows = true;
  client.leader = task->leader;
  client.rank = task->stands_for;
  client.group = task->group;
  client.channel.send(MessageType::kWelcome,
                      encode_plain(Welcome{space_.header().stamp, client.rank, 0}));
}

// Returns the task whose process, or whose descendant, this is; nullptr if there is none.
const LiveTask* Host::task_of(pid_t pid) const {
  constexpr int kGenerationsMax = 64;
  for (int n = 0; n < kGenerationsMax && pid > 1; ++n, pid = parent_of(pid))
    if (const auto found = tasks_.find(pid); found != tasks_.end()) return found->second.get();
  return nullptr;
}

// Completes what a follower wants to launch: it stands for the follower's rank, and gets the rank's
// number. Throws if no task may start in its stead.
void Host::admit_follower(const Client& client, Launch& launch,
                          std::vector<base::Fd>& descriptors) {
  if (is_orphan(client)) throw Error(-ESRCH, "the launcher of its rank has gone");
  if (communicates(client.leader, client.rank))
    throw Error(-EBUSY, "another program of its rank has started its MPI");
  const std::string difference = difference_from_this_process(client.pid);
  if (!difference.empty()) throw Error(-EPERM, difference);
  launch.stands_for = client.rank;
  if (launch.wanted_number >= 0) launch.wanted_number = client.rank;
  add_descriptor(client, launch, descriptors);
  free_left_record(client.pid);
}

// Keeps a copy of the rank's descriptor, if it has one.
void Host::keep_descriptor(Client& client, const Launch& launch,
                           const std::vector<base::Fd>& descriptors) {
  for (size_t n = 0; n < launch.descriptor_numbers.size() && n < descriptors.size(); ++n)
    if (launch.descriptor_numbers[n] == launch.rank_descriptor && launch.stands_for >= 0)
      client.descriptors[launch.stands_for] = {copy_of(descriptors[n]), launch.rank_descriptor};
}

// Gives the program of a follower the descriptor of its rank.
void Host::add_descriptor(const Client& client, Launch& launch,
                          std::vector<base::Fd>& descriptors) {
  const auto& kept = clients_.at(client.leader).descriptors;
  const auto found = kept.find(client.rank);
  if (found == kept.end() || descriptors.size() != launch.descriptor_numbers.size() + 1) return;
  auto& numbers = launch.descriptor_numbers;
  const auto at = std::lower_bound(numbers.begin(), numbers.end(), found->second.number);
  const auto place = descriptors.begin() + (at - numbers.begin());
  base::Fd copy = copy_of(found->second.fd);
  if (at != numbers.end() && *at == found->second.number) {
    *place = std::move(copy);
  } else {
    numbers.insert(at, found->second.number);
    descriptors.insert(place, std::move(copy));
  }
}

// Called when the process of a task has executed another program: frees the record that it has
// left, so that the next task may have its number. The process lives on, and its client will be
// told its end.
void Host::free_left_record(pid_t pid) {
  const auto found = tasks_.find(pid);
  if (found == tasks_.end() || found->second->record == nullptr) return;
  forget(*found->second);
  TaskRecord& record = *std::exchange(found->second->record, nullptr);
  tell_upper_floor_of_end(record);
  close(record);
}

bool Host::communicates(int leader, int32_t rank) const {
  if (clients_.at(leader).communicating.contains(rank)) return true;
  return std::any_of(tasks_.begin(), tasks_.end(), [&](const auto& entry) {
    const LiveTask& task = *entry.second;
    return task.leader == leader && task.stands_for == rank && task.record != nullptr &&
           task.record->communicates.load(std::memory_order_relaxed) != 0;
  });
}

void Host::note_communication(Client& client, const Communication& communication) {
  const bool has_begun = communication.has_begun != 0;
  if (communication.rank < 0 || communication.rank >= static_cast<int32_t>(kTasksMax))
    throw Error(-EPROTO, "malformed message: no rank");
  if (has_begun)
    client.communicating.insert(communication.rank);
  else
    client.communicating.erase(communication.rank);
  for (const auto& [pid, task] : tasks_) {
    if (task->leader != client.channel.fd() || task->stands_for != communication.rank ||
        task->record == nullptr)
      continue;
    uint32_t expected = has_begun ? 0 : kByLauncher;  // else the task itself has said so
    task->record->communicates.compare_exchange_strong(expected, has_begun ? kByLauncher : 0,
                                                       std::memory_order_relaxed);
  }
}

void Host::note_left(Client& client, Departure departure) {
  if (client.follows) {
    free_left_record(client.pid);
    departure.rank = client.rank;
  }
  if (departure.rank < 0 || departure.rank >= static_cast<int32_t>(kTasksMax))
    throw Error(-EPROTO, "malformed message: no rank");
  const auto leader = clients_.find(client.follows ? client.leader : client.channel.fd());
  const bool is_first =
      leader != clients_.end() && leader->second.left.try_emplace(departure.rank, departure).second;
  if (is_first)
    log_.say("rank " + std::to_string(departure.rank) + ": " + departure.program +
             " runs outside of the space: " + departure.reason);
  client.channel.send(MessageType::kAnswer, is_first ? "1" : "");
}

}  // namespace nagaya::task
