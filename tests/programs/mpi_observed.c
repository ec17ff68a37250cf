/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_observed.c - an MPI program whose waits are known, to be read by `nagaya top` and `nagaya
 * trace`. Each rank prints "ready" when it has begun, and then repeats for SECONDS (0: for ever):
 *
 *   mpi_observed late SECONDS       rank 1 computes for 20 ms, the first time for 300 ms, then all
 *                                   meet in an allreduce
 *   mpi_observed messages SECONDS   each even rank and the next one hand 8 bytes to and fro; every
 *                                   hundredth time rank 1 computes for 20 ms before it answers
 *   mpi_observed stuck 0            rank 0 receives from rank 1, which never sends
 *   mpi_observed pending SECONDS    as `late`, by a non-blocking allreduce */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

static int rank, size;

static void compute(double seconds) {
  const double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) continue;
}

static void meet(long turn, int is_pending) {
  int one = 1, sum = 0;
  if (rank == 1) compute(turn == 1 ? 0.3 : 0.02);
  if (is_pending) {
    MPI_Request request;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  EXPECT_EQUAL(sum, size);
}

static void exchange(long turn) {
  const int partner = rank ^ 1;
  long got = -1;
  if (partner >= size) return;
  if (rank % 2 == 0) MPI_Send(&turn, 1, MPI_LONG, partner, 7, MPI_COMM_WORLD);
  MPI_Recv(&got, 1, MPI_LONG, partner, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT_EQUAL(got, turn);
  if (rank == 1 && turn % 100 == 0) compute(0.02);
  if (rank % 2 != 0) MPI_Send(&turn, 1, MPI_LONG, partner, 7, MPI_COMM_WORLD);
}

/* Whether all ranks have used their time: rank 0 decides for all. */
static int is_over(double begin, double seconds) {
  int over = seconds > 0 && MPI_Wtime() - begin >= seconds;
  if (seconds > 0) MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return over;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT(argc == 3);
  const char* const what = argv[1];
  const double seconds = atof(argv[2]), begin = MPI_Wtime();
  MPI_Barrier(MPI_COMM_WORLD);
  puts("ready");
  fflush(stdout);
  if (strcmp(what, "stuck") == 0) {
    int never = 0;
    if (rank == 0) MPI_Recv(&never, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (;;) pause();
  }
  const int has_messages = strcmp(what, "messages") == 0;
  const long at_once = has_messages ? 1000 : 5;
  for (long turn = 1; turn % at_once != 0 || !is_over(begin, seconds); ++turn)
    has_messages ? exchange(turn) : meet(turn, strcmp(what, "pending") == 0);
  MPI_Finalize();
  return 0;
}
