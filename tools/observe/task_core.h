// SPDX-License-Identifier: BSD-3-Clause
// task_core.h - finds the task whose crash wrote a core file. A core file holds the memory of all
// tasks of the space, but only the threads of the task that crashed.
#pragma once

#include <string>
#include <vector>

#include "observe/process_files.h"

namespace nagaya::tools {

struct CoreTask {
  uint32_t number;
  int pid;
  std::string program;
  Partition partition;
  std::vector<FileMapping> files;  // of the whole space
};

// Reads the crashed task from a core file. Throws Error: it is no core file, or not one of a task.
CoreTask read_task_core(const std::string& path);

}  // namespace nagaya::tools
