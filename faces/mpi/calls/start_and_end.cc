// SPDX-License-Identifier: BSD-3-Clause
// start_and_end.cc - MPI_Init and MPI_Init_thread. The end comes by an attribute (job.h).
#include "calls/calls.h"
#include "objects/job.h"
#include "objects/world.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

int init(int* argc, char*** argv) {
  World::announce();
  const int error = beneath.Init(argc, argv);
  if (error == MPI_SUCCESS) Job::open(MPI_THREAD_SINGLE);
  return error;
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
  World::announce();
  const int error = beneath.Init_thread(argc, argv, required, provided);
  if (error == MPI_SUCCESS) Job::open(*provided);
  return error;
}

}  // namespace

void add_start_and_end(Functions& ours) {
  ours.Init = init;
  ours.Init_thread = init_thread;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
