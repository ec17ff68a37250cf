/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.h - how the demo's programs take and print their times. */
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kTurns = 11, kTurnsBefore = 2 };

static inline int in_ascending_order(const void* one, const void* other) {
  const double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

/* Rank 0 prints the median of kTurns turns, after some that do not count. A turn's time [s] is that
 * of its slowest rank; the turn itself begins with a barrier. */
static inline void print_median(const char* name, double (*turn)(int number)) {
  double times[kTurns];
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int n = -kTurnsBefore; n < kTurns; ++n) {
    double slowest, own = turn(n + kTurnsBefore);
    MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (n >= 0) times[n] = slowest;
  }
  if (rank != 0) return;
  qsort(times, kTurns, sizeof *times, in_ascending_order);
  printf("%s %.6f\n", name, times[kTurns / 2] * 1e3);
}

/* Rank 0 prints the sum over all ranks. */
static inline void print_sum(const char* name, double own) {
  double sum = 0;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s %.9g\n", name, sum);
}
