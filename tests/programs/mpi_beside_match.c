/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_beside_match.c - a program that sends by nagaya/match.h itself, before it uses MPI. */
#include <mpi.h>
#include <nagaya/match.h>

#include "expect.h"

int main(int argc, char** argv) {
  int rank, size, sum;
  EXPECT_EQUAL(nagaya_match_open(0), 0);
  EXPECT_EQUAL(nagaya_match_open(0), -EBUSY);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQUAL(sum, size * (size - 1) / 2);
  MPI_Finalize();
  EXPECT_EQUAL(nagaya_match_close(), 0);
  EXPECT_EQUAL(nagaya_match_close(), -ESRCH);
  EXPECT_EQUAL(nagaya_match_open(0), 0);
  if (rank == 0) printf("both\n");
  return 0;
}
