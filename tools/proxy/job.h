// SPDX-License-Identifier: BSD-3-Clause
// job.h - finds the job that this process belongs to, by the environment of its launcher.
#pragma once

#include <string>

#include "launch/mpi_program.h"
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

// The variable by which a rank of `nagaya run` finds its host: the path of the host's socket.
inline constexpr const char* kHostOfRun = "NAGAYA_RUN";
// The descriptor of PMI-1 in such a rank: out of the way of programs that choose numbers of their
// own.
inline constexpr int kPmi1Descriptor = 192;
// The names of jobs of `nagaya run` begin with this (PMIX_NAMESPACE).
inline constexpr const char* kNamesOfRun = "nagaya-";

// Returns that path if this process belongs to a rank of `nagaya run`; "" if to none, or to one of
// another launcher that such a rank has started.
std::string host_of_run();

// Returns the number of tasks of node `node` in Slurm's notation, for example "4(x2),3" for nodes
// of 4, 4 and 3 tasks; 0 when `text` does not include that node.
uint32_t slurm_tasks_on_node(const std::string& text, unsigned node);

}  // namespace nagaya::tools
