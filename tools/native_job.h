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

// Standard input goes to the first task, output is shared. The first task that fails ends the
// job. Returns the exit code: of the first that failed, else 0; 128 + signal for a signal.
int run_native(const NativeJob& job);

}  // namespace nagaya::tools
