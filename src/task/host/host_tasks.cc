// SPDX-License-Identifier: BSD-3-Clause
// host_tasks.cc - the host's service to a task from its launch to the reuse of its number.
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
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

// Returns the pid of a child that has ended, 0 when none has, -1 when there is no child. If
// wait4(2) fails, tries waitid(2).
pid_t take_ended_child(int* status) {
  const pid_t pid = ::waitpid(-1, status, WNOHANG);
  if (pid >= 0) return pid;
  if (errno == ECHILD) return -1;
  siginfo_t about{};
  if (::waitid(P_ALL, 0, &about, WEXITED | WNOHANG) != 0) return 0;
  constexpr int kDumped = 0x80;
  const int signal = about.si_status | (about.si_code == CLD_DUMPED ? kDumped : 0);
  *status = about.si_code == CLD_EXITED ? W_EXITCODE(about.si_status, 0) : W_EXITCODE(0, signal);
  return about.si_pid;
}

End end_of(const LiveTask& task) {
  const TaskRecord& record = *task.record;
  End end{{record.number, record.wait_status.load(std::memory_order_relaxed), task.is_first_fault},
          {}};
  if (const int error = record.start_error.load(std::memory_order_acquire); error != 0) {
    const auto step = static_cast<StartStep>(record.start_step.load(std::memory_order_relaxed));
    end.reason = {
        -error, std::string("the task could not ") + to_string(step) + ": " + std::strerror(error)};
  }
  return end;
}

}  // namespace

void Host::launch(Client& client, const Message& message) {
  const Launch launch = decode_launch(message.payload);
  TaskRecord* record = nullptr;
  Started started{};
  try {
    record = &open_record(launch.wanted_number);
    stop_at(StopPoint::kHostRecordOpened);
    // Allocates all memory before the clone, so that every living task has its entries.
    Tasks entry;
    LiveTask& task = *entry.emplace(0, std::make_unique<LiveTask>())->second;
    task.record = record;
    task.is_freed_by_creator = client.keeps_tasks;
    task.program = launch.text.program;
    task.group = client.group;
    client.tasks.insert(record->number);
    if (!task.is_freed_by_creator) groups_[client.group].tasks.push_back(record);
    upper_->task_starts(*record, {launch.inherit.cpu_mask, launch.inherit.cpu_mask_bytes / 8});
    spawn(loader_, task, launch, message.descriptors);
    stop_at(StopPoint::kHostCloned);
    started = {record->number, task.pid};
    auto node = entry.extract(entry.begin());
    node.key() = task.pid;
    tasks_.insert(std::move(node));
  } catch (const std::exception& error) {
    if (record != nullptr) {
      client.tasks.erase(record->number);
      if (!client.keeps_tasks) std::erase(groups_[client.group].tasks, record);
      space_.close_record(*record);
    }
    count_end(client.group);
    client.channel.send(MessageType::kRefused, encode_refusal(as_error(error)));
    // The refused task may have been the last one that its group waited for.
    if (const auto group = groups_.find(client.group); group != groups_.end())
      finish(group->second);
    return;
  }
  client.channel.send(MessageType::kStarted, encode_plain(started));
}

// Returns the record of a free number. If there is none, first frees the numbers of all tasks of
// ended groups that no task and no upper floor holds.
TaskRecord& Host::open_record(int64_t wanted) {
  if (!space_.has_free()) {
    close_tasks_of_ended_groups(0);
    close_released();
  }
  return space_.open_record(wanted);
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
        has_clients([&](const Client& client) { return client.tasks.contains(record->number); });
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

// Reaps ended tasks. Called after SIGCHLD, and once per kLookPause without: if the signal or the
// wait has failed, a client would wait for ever.
void Host::reap_ended() {
  if (Clock::now() < next_look_) return;
  next_look_ = Clock::now() + kLookPause;
  int status = 0;
  pid_t pid = 0;
  while ((pid = take_ended_child(&status)) > 0) reap(pid, status);
  // No child is left: other code in this process has waited for tasks that still have an entry.
  while (pid < 0 && !tasks_.empty()) reap(tasks_.begin()->first, W_EXITCODE(0, SIGKILL));
  // Tasks of other jobs may have released their holds meanwhile.
  if (tasks_of_ended_groups_.size() > kEndedGroupTasksKept)
    close_tasks_of_ended_groups(kEndedGroupTasksKept);
}

void Host::reap(int pid, int status) {
  Tasks::node_type ended = tasks_.extract(pid);
  if (ended.empty()) return;  // a task has given the host a child (CLONE_PARENT)
  const LiveTask& task = *ended.mapped();
  TaskRecord& record = *task.record;
  stop_at(StopPoint::kHostReaped);
  space_.mark_ended(record, status);
  try {
    upper_->task_ended(record);
  } catch (const std::exception&) {
    // Out of memory: the upper floor keeps its structures for the task, and the number is not used
    // again.
  }
  stop_at(StopPoint::kHostEndMarked);
  count_end(task.group);
  // Removes the socket before telling the last client. That client then leaves, and no process
  // would remove the socket if the host were killed after that. (A creator removes it itself.)
  if (all_came_and_went()) stop_listening();
  const auto group = groups_.find(task.group);
  report_end(std::move(ended));
  if (group != groups_.end()) finish(group->second);
}

// Reports the end to the client that launched the task; keeps it in unreported_ends_ if there is no
// memory.
void Host::report_end(Tasks::node_type ended) {
  LiveTask& task = *ended.mapped();
  TaskRecord& record = *task.record;
  const auto owner = std::find_if(clients_.begin(), clients_.end(), [&](const auto& entry) {
    return entry.second.tasks.contains(record.number);
  });
  if (owner == clients_.end()) {
    if (task.is_freed_by_creator) close(record);
    return;
  }
  // Only the proxy of the first task that died of a fault reports it. Later faults may be
  // consequences.
  if (is_fault(record.wait_status.load(std::memory_order_relaxed)) &&
      !std::exchange(had_fault_, true))
    task.is_first_fault = true;
  try {
    owner->second.channel.send(MessageType::kEnded, encode(end_of(task)));
    if (!task.is_freed_by_creator) owner->second.tasks.erase(record.number);
    stop_at(StopPoint::kHostEndTold);
  } catch (const std::bad_alloc&) {
    unreported_ends_.insert(std::move(ended));
  } catch (const Error&) {
    drop(owner->first);
  }
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
