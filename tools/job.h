// SPDX-License-Identifier: BSD-3-Clause
// job.h - which job the environment says that this process belongs to.
#pragma once

#include "task/host/host_start.h"

namespace nagaya::tools {

struct LaunchedJob {
  task::Job job;
  int64_t local_rank = -1;      // the task number to ask for
  bool signals_groups = false;  // the launcher signals process groups, not single processes
};

// The job whose processes share a space: under Open MPI's mpirun or prterun all ranks of one mpirun
// (and what they spawn), under Slurm's srun those of the job step, under MPICH's hydra those of one
// mpiexec, each as far as they are on this node. Without a launcher this process alone.
LaunchedJob job_of_environment();

// How many tasks node `node` has by Slurm's notation, for example "4(x2),3" for nodes of 4, 4 and 3
// tasks; 0 when `text` says nothing of that node.
uint32_t slurm_tasks_on_node(const std::string& text, unsigned node);

}  // namespace nagaya::tools
