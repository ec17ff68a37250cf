// SPDX-License-Identifier: BSD-3-Clause
#include "observe/job_view.h"

namespace nagaya::tools {
namespace {

Partition partition_of(const task::TaskStatus& task) {
  return {{task.home, task.home + task.home_bytes}, {task.range, task.range + task.range_bytes}};
}

}  // namespace

JobView view_of(const JobSocket& socket) {
  JobView view;
  view.job = socket.job;
  view.socket = socket.path;
  view.status = socket.status;
  if (view.status.launcher_pid > 0) view.launcher = command_name(view.status.launcher_pid);
  view.page_table_bytes = page_table_bytes(view.status.host_pid);

  std::vector<Partition> partitions;
  for (const task::TaskStatus& task : view.status.tasks) partitions.push_back(partition_of(task));
  const std::optional<MemoryUse> use = memory_use(view.status.host_pid, partitions);
  if (use) {
    view.pss_bytes = use->total_bytes;
    view.mappings = use->mappings;
  }
  for (size_t n = 0; n < partitions.size(); ++n) {
    TaskView task;
    task.status = view.status.tasks[n];
    if (use) task.pss_bytes = use->partition_bytes[n];
    // The pid of an ended task may be somebody else's by now.
    if (task.status.state != task::TaskState::kEnded) task.process = process_state(task.status.pid);
    view.tasks.push_back(std::move(task));
  }
  return view;
}

}  // namespace nagaya::tools
