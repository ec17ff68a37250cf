// SPDX-License-Identifier: BSD-3-Clause
// job.h - finds the job that this process belongs to, by the environment of its launcher.
#pragma once

#include "mpi_program.h"
#include "task/host/host_start.h"

namespace nagaya::tools {

struct LaunchedJob {
  task::Job job;
  LauncherKind launcher = LauncherKind::kNone;
  int64_t ranks = 1;            // of the job on all nodes, as the launcher says
  int64_t local_rank = -1;      // the task number to ask for; -1: there is no launcher
  bool signals_groups = false;  // the launcher signals process groups, not single processes
};

// Returns the job whose processes share a space: the ranks on this node of one mpirun or prterun of
// Open MPI (and the processes that they spawn), of one job step of Slurm's srun, or of one mpiexec
// of MPICH's hydra. Without a launcher the job is this process alone.
LaunchedJob job_of_environment();

// Returns the number of tasks of node `node` in Slurm's notation, for example "4(x2),3" for nodes
// of 4, 4 and 3 tasks; 0 when `text` does not include that node.
uint32_t slurm_tasks_on_node(const std::string& text, unsigned node);

}  // namespace nagaya::tools
