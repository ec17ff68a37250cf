/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.h - measures and prints the times of the demo's programs. */
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kTurns = 11, kTurnsBefore = 2 };

static inline int in_ascending_order(const void* one, const void* other) {
  const double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

/* Measures kTurns turns, after kTurnsBefore that do not count; rank 0 prints their median. turn()
 * begins with a barrier and returns the rank's time [s]; the slowest rank's time counts. */
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
