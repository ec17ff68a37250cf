// SPDX-License-Identifier: BSD-3-Clause
// start_and_end.cc - MPI_Init and MPI_Init_thread. The end comes by an attribute (job.h).
#include "calls/calls.h"
#include "objects/job.h"
#include "objects/world.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

// MPI_Init, too, may provide threads: MPIs have settings for that.
int open_after(int error) {
  int level = MPI_THREAD_SINGLE;
  if (error != MPI_SUCCESS) {
    World::stay_away();
    return error;
  }
  beneath.Query_thread(&level);
  Job::open(level);
  return MPI_SUCCESS;
}

int init(int* argc, char*** argv) {
  World::announce();
  return open_after(beneath.Init(argc, argv));
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
  World::announce();
  return open_after(beneath.Init_thread(argc, argv, required, provided));
}

}  // namespace

void add_start_and_end(Functions& ours) {
  ours.Init = init;
  ours.Init_thread = init_thread;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
