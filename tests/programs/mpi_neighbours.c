/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_neighbours.c - ranks of an MPI job read and write each other's memory: the addresses travel
 * by MPI, the data by plain loads and stores. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

#include <nagaya/task.h>

#include "expect.h"

enum { kWords = 100000, kRanksMax = 64 };

static long inbox[kRanksMax];

int main(int argc, char** argv) {
  int rank, size;
  uint64_t inboxes[kRanksMax], heaps[kRanksMax];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQUAL(nagaya_task_self(), rank);
  EXPECT_EQUAL(nagaya_task_count(), size);
  long* heap = malloc(kWords * sizeof *heap);
  for (long n = 0; n < kWords; ++n) heap[n] = rank + n;
  uint64_t own_inbox = (uintptr_t)inbox, own_heap = (uintptr_t)heap;
  MPI_Allgather(&own_inbox, 1, MPI_UINT64_T, inboxes, 1, MPI_UINT64_T, MPI_COMM_WORLD);
  MPI_Allgather(&own_heap, 1, MPI_UINT64_T, heaps, 1, MPI_UINT64_T, MPI_COMM_WORLD);
  for (int other = 0; other < size; ++other) {
    const long* theirs = (const long*)(uintptr_t)heaps[other];
    long sum = 0;
    for (long n = 0; n < kWords; ++n) sum += theirs[n];
    EXPECT_EQUAL(sum, (long)kWords * other + (long)kWords * (kWords - 1) / 2);
    EXPECT_EQUAL(nagaya_task_owner(theirs), other);
    ((long*)(uintptr_t)inboxes[other])[rank] = 7 * rank + other;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int other = 0; other < size; ++other) EXPECT_EQUAL(inbox[other], 7 * other + rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%d neighbours\n", size);
  free(heap);
  MPI_Finalize();
  return 0;
}
