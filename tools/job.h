// SPDX-License-Identifier: BSD-3-Clause
// job.h - which job the environment says that this process belongs to.
#pragma once

#include "task/client.h"

namespace nagaya::tools {

struct LaunchedJob {
  task::Job job;
  int64_t local_rank = -1;  // the task number to ask for
  bool launched = false;    // by a launcher that signals whole process groups
};

// Under Open MPI's mpirun: the job that all ranks of one mpirun (and what they spawn) share.
// Without a launcher: a job of this process alone.
LaunchedJob job_of_environment();

}  // namespace nagaya::tools
