// SPDX-License-Identifier: BSD-3-Clause
// job_view.h - a job as `nagaya ps` shows it: its host's answer, with additions from /proc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "observe/job_sockets.h"
#include "observe/process_files.h"

namespace nagaya::tools {

struct TaskView {
  task::TaskStatus status;
  std::optional<ProcessState> process;  // nullopt once the task has ended
  std::optional<uint64_t> pss_bytes;    // proportional share of the memory of its partition
};

// A field is missing if it could not be read: the process has ended, or the system forbids it.
struct JobView {
  std::string job, socket;
  task::JobStatus status;
  std::string launcher;  // the name of its command
  std::optional<uint64_t> pss_bytes, page_table_bytes, mappings;
  std::vector<TaskView> tasks;
};

JobView view_of(const JobSocket& socket);

}  // namespace nagaya::tools
