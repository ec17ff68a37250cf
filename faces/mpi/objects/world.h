// SPDX-License-Identifier: BSD-3-Clause
// world.h - which tasks the processes of MPI_COMM_WORLD are. Found in the space, without a
// collective of the MPI beneath: a process that is no task (a static program, one that has left the
// space) would not take part, and all others would wait for it.
//
//   announce()   before MPI_Init: this task publishes a record
//   (MPI_Init)   returns when all processes have called it: each task of the job has a record then
//   find()       this task stores its rank. Rank 0 waits until all records have ranks, and decides;
//                the others wait for its decision
//
// Several jobs may be in one space, at once: a member knows the rank 0 of its own job by its own
// place in the table.
// Death of a task ends its job, and with it the waits of others.
#pragma once

#include <nagaya/llcl.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nagaya::mpi {

struct World {
  std::vector<nagaya_process> processes;  // by rank; empty: not all are tasks
  uint32_t context = 0;
  std::string obstacle;  // in rank 0: why there are no processes

  static void announce();
  // Called by all processes that have announced themselves, once match is open. `context`: of rank
  // 0, for the messages of MPI_COMM_WORLD.
  static World find(int rank, int size, uint32_t context);
  // In place of find(), beside components that have opened nagaya/comm.h: the processes of a job on
  // several nodes, in no space together; otherwise none, and find() is to follow.
  static World over_nodes(int rank, int size, uint32_t context);
  // In place of find(), for a task that does not take part.
  static void stay_away();
};

}  // namespace nagaya::mpi
