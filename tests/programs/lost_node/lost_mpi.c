/* SPDX-License-Identifier: BSD-3-Clause */
/* lost_mpi.c - processes wait by MPI. */
#include <mpi.h>

#include "wait_for_lost.h"

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  be_ready(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}
