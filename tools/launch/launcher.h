// SPDX-License-Identifier: BSD-3-Clause
// launcher.h - runs a job on this node: starts its ranks, serves what their MPI asks of a launcher
// (PMIx and PMI-1, each rank may use either), and waits for their end.
//
//   nagaya run ──► host ──clone──► ranks: tasks of one space
//       │                            │
//       └─ PMIx, PMI-1 ◄─────────────┘ who am I, where are the others, start more
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "launch/binding.h"
#include "launch/parallel_job.h"
#include "launch/streams.h"

namespace nagaya::tools {

struct LaunchChoice {
  std::vector<Application> applications;
  bool separate = false;  // ordinary processes instead of tasks
  BindingOptions binding;
  bool reports_bindings = false;
  StreamOptions streams;
  std::optional<std::chrono::seconds> time_limit;
};

// Returns the number of ranks of all programs together.
uint32_t ranks_of(const std::vector<Application>& applications);

// Runs the job until all its processes have ended. The first one that fails ends the job: the
// others get SIGTERM and, two seconds later, SIGKILL. SIGINT, SIGTERM and SIGHUP to this process
// end it in the same way; SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT are passed on. Returns the exit
// code of the first that failed, 128 + signal if a signal ended it; that of MPI_Abort; 124 after
// the time limit; 0 if none failed. Throws Error: a program cannot be started.
int run_job(const LaunchChoice& choice);

}  // namespace nagaya::tools
