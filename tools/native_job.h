// SPDX-License-Identifier: BSD-3-Clause
// native_job.h - runs a program that needs no MPI launcher: `count` tasks of one space, or as many
// ordinary processes.
#pragma once

#include <string>
#include <vector>

namespace nagaya::tools {

struct NativeJob {
  int count = 1;
  bool separate = false;
  std::vector<std::string> command;
};

// Runs the job until its tasks have ended. Standard input goes to the first task, output is shared.
// The first task that fails ends the job. Returns that task's exit code, or 128 + signal if a
// signal ended it; 0 if no task failed.
int run_native(const NativeJob& job);

}  // namespace nagaya::tools
