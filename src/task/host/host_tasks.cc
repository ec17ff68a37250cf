// SPDX-License-Identifier: BSD-3-Clause
// host_tasks.cc - the host's service to a task from its launch to the reuse of its number.
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "task/host/fault.h"
#include "task/host/host.h"

namespace nagaya::task {
namespace {

using base::Error;
using namespace std::chrono_literals;

constexpr auto kLookPause = 1s;
// The number of tasks of ended groups whose memory the host keeps: a task of another job may be
// about to hold one of them.
constexpr size_t kEndedGroupTasksKept = 16;

End end_of(const LiveTask& task) {
  End end{{task.number, task.pid, task.wait_status, task.is_first_fault}, {}};
  if (task.record == nullptr) return end;
  const TaskRecord& record = *task.record;
  if (const int error = record.start_error.load(std::memory_order_acquire); error != 0) {
    const auto step = static_cast<StartStep>(record.start_step.load(std::memory_order_relaxed));
    end.reason = {
        -error, std::string("the task could not ") + to_string(step) + ": " + std::strerror(error)};
  }
  return end;
}

}  // namespace

void Host::launch(Client& client, Message message) {
  Launch launch = decode_launch(message.payload);
  Tasks entry;
  Started started{};
  try {
    if (client.follows)
      admit_follower(client, launch, message.descriptors);
    else
      keep_descriptor(client, launch, message.descriptors);
    // Allocates all memory before the clone, so that every living task has its entries.
    LiveTask& task = *entry.emplace(0, std::make_unique<LiveTask>())->second;
    task.program = launch.text.program;
    task.command = shown_command(launch.text);
    task.group = client.group;
    task.client = client.channel.fd();
    task.leader = client.leader;
    task.follows = client.follows;
    task.is_freed_by_creator = clients_.at(client.leader).keeps_tasks;
    task.stands_for = static_cast<int32_t>(launch.stands_for);
    task.record = &open_record(launch);
    stop_at(StopPoint::kHostRecordOpened);
    task.number = task.record->number;
    task.record->stands_for = task.stands_for;
    enter(task);
    upper_->task_starts(*task.record, {launch.inherit.cpu_mask, launch.inherit.cpu_mask_bytes / 8});
    spawn(loader_, reaper_.pid(), task, launch, message.descriptors);
    stop_at(StopPoint::kHostCloned);
    started = {task.number, task.pid};
    // A task has ended, and the kernel has given its pid to this one.
    if (tasks_.contains(task.pid)) note_ended(true);
    auto node = entry.extract(entry.begin());
    node.key() = task.pid;
    tasks_.insert(std::move(node));
  } catch (const std::exception& error) {
    if (!entry.empty() && entry.begin()->second->record != nullptr) {
      forget(*entry.begin()->second);
      space_.close_record(*entry.begin()->second->record);
    }
    if (!client.follows) count_end(client.group);
    client.channel.send(MessageType::kRefused, encode_refusal(as_error(error)));
    // The refused task may have been the last one that its group waited for.
    if (const auto group = groups_.find(client.group); group != groups_.end())
      finish(group->second);
    return;
  }
  client.channel.send(MessageType::kStarted, encode_plain(started));
}

// Returns the record of a free number. If there is none, first frees the numbers of all tasks of
// ended groups that no task and no upper floor holds. Leaves the numbers of ranks to tasks that ask
// for them: the program behind a wrapper will.
TaskRecord& Host::open_record(const Launch& launch) {
  if (!space_.has_free()) {
    close_tasks_of_ended_groups(0);
    close_released();
  }
  const uint32_t least = launch.stands_for >= 0 ? space_.header().expected_tasks : 0;
  return space_.open_record(launch.wanted_number, least);
}

// Enters the task's record where it stays until the memory of the ended task is to be freed.
void Host::enter(const LiveTask& task) {
  if (task.is_freed_by_creator)
    clients_.at(task.leader).unwaited.insert(task.number);
  else
    groups_[task.group].tasks.push_back(task.record);
}

// Takes the task's record out of the places where it waits to be freed.
void Host::forget(const LiveTask& task) {
  if (const auto leader = clients_.find(task.leader); leader != clients_.end())
    leader->second.unwaited.erase(task.record->number);
  if (const auto group = groups_.find(task.group); group != groups_.end())
    std::erase(group->second.tasks, task.record);
  std::erase(tasks_of_ended_groups_, task.record);
}

// If all tasks of a launched job have ended, queues their records to be closed: no task of the job
// is left to use their memory.
void Host::finish(Group& group) {
  if (group.expected == 0 || group.ended < group.expected) return;
  for (TaskRecord* record : group.tasks)
    if (record->state.load(std::memory_order_relaxed) != TaskState::kEnded) return;
  tasks_of_ended_groups_.insert(tasks_of_ended_groups_.end(), group.tasks.begin(),
                                group.tasks.end());
  group.tasks.clear();
  close_tasks_of_ended_groups(space_.has_free() ? kEndedGroupTasksKept : 0);
}

// Closes tasks of ended groups, the oldest first, until `kept` are left. Skips tasks that a task of
// another job holds, and tasks whose client was not told the end.
void Host::close_tasks_of_ended_groups(size_t kept) {
  size_t left = tasks_of_ended_groups_.size();
  std::erase_if(tasks_of_ended_groups_, [&](TaskRecord* record) {
    const bool is_awaited =
        std::any_of(unreported_ends_.begin(), unreported_ends_.end(),
                    [&](const auto& one) { return one.second->record == record; });
    if (left <= kept || is_awaited || space_.is_held(*record)) return false;
    --left;
    close(*record);
    return true;
  });
}

// Closes the record now, or puts it into awaiting_upper_release_ until the upper floor has released
// the partition.
void Host::close(TaskRecord& record) {
  if (upper_->holds(record))
    awaiting_upper_release_.push_back(&record);
  else
    space_.close_record(record);
}

void Host::close_released() {
  std::erase_if(awaiting_upper_release_, [&](TaskRecord* record) {
    if (upper_->holds(*record)) return false;
    space_.close_record(*record);
    return true;
  });
}

void Host::tell_upper_floor_of_end(const TaskRecord& record) try {
  upper_->task_ended(record);
} catch (const std::exception&) {
  // Out of memory: the upper floor keeps its structures for the task, and the number is not used
  // again.
}

// Reaps the ended tasks of the reaper's last answer, and asks it anew: after SIGCHLD, and once per
// kLookPause without. If the signal or the question has failed, a client would wait for ever.
void Host::reap_ended() {
  note_ended(false);
  while (!ended_.empty()) reap(ended_.extract(ended_.begin()));
  if (Clock::now() < next_look_ || reaper_.is_asked()) return;
  next_look_ = Clock::now() + kLookPause;
  reaper_.ask();
  // Tasks of other jobs may have released their holds meanwhile.
  if (tasks_of_ended_groups_.size() > kEndedGroupTasksKept)
    close_tasks_of_ended_groups(kEndedGroupTasksKept);
}

// Moves the tasks that have ended from tasks_ to ended_. If it waits, each pid in tasks_ is that of
// its task until the next question to the reaper.
void Host::note_ended(bool waits) {
  while (const auto child = reaper_.take_ended(waits)) {
    Tasks::node_type ended = tasks_.extract(child->pid);
    if (ended.empty()) continue;  // a task has given its parent a child (CLONE_PARENT)
    ended.mapped()->wait_status = child->wait_status;
    ended_.insert(std::move(ended));
  }
}

void Host::reap(Tasks::node_type ended) {
  LiveTask& task = *ended.mapped();
  stop_at(StopPoint::kHostReaped);
  if (task.record != nullptr) {
    space_.mark_ended(*task.record, task.wait_status);
    tell_upper_floor_of_end(*task.record);
  }
  stop_at(StopPoint::kHostEndMarked);
  if (!task.follows) count_end(task.group);
  // Removes the socket before telling the last client. That client then leaves, and no process
  // would remove the socket if the host were killed after that. (A creator removes it itself.)
  if (all_came_and_went()) stop_listening();
  const auto group = groups_.find(task.group);
  report_end(std::move(ended));
  if (group != groups_.end()) finish(group->second);
}

// Reports the end to the client that launched the task, and frees the task's record if nobody else
// needs it; keeps the end in unreported_ends_ if there is no memory.
void Host::report_end(Tasks::node_type ended) {
  LiveTask& task = *ended.mapped();
  if (const auto client = clients_.find(task.client); client != clients_.end()) {
    // Only the proxy of the first task that died of a fault reports it. Later faults may be
    // consequences.
    if (is_fault(task.wait_status) && !std::exchange(had_fault_, true)) task.is_first_fault = true;
    try {
      client->second.channel.send(MessageType::kEnded, encode(end_of(task)));
      stop_at(StopPoint::kHostEndTold);
    } catch (const std::bad_alloc&) {
      unreported_ends_.insert(std::move(ended));
      return;
    } catch (const Error&) {
      const bool is_leader = task.leader == task.client;
      drop(task.client);
      if (is_leader) return;  // which has freed the record
    }
  }
  settle(task);
}

// Frees the record of an ended task if its creator has gone, or if it is one of the programs that a
// wrapper runs one after another, and no other task can know its memory.
void Host::settle(const LiveTask& task) {
  if (task.record == nullptr) return;
  const bool is_unknown =
      task.follows && task.record->communicates.load(std::memory_order_relaxed) == 0;
  if (is_unknown)
    forget(task);
  else if (task.leader >= 0 || !task.is_freed_by_creator)
    return;
  close(*task.record);
}

void Host::report_late_ends() {
  int pid = 0;
  // report_end() may drop the client, which removes other entries of unreported_ends_.
  for (auto at = unreported_ends_.begin(); at != unreported_ends_.end();
       at = unreported_ends_.upper_bound(pid)) {
    pid = at->first;
    report_end(unreported_ends_.extract(at));
  }
}

}  // namespace nagaya::task
