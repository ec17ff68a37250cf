/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_window.c - one-sided communication over memory of the program's own: Open MPI's, whichever
 * way messages travel. Knows nothing of Nagaya. */
#include <mpi.h>

#include "expect.h"
#include "functions_of_mpi.h"

enum { kWords = 100000 };

int main(int argc, char** argv) {
  static int words[kWords], own[kWords], got[kWords];
  int rank, size;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int n = 0; n < kWords; ++n) own[n] = rank * kWords + n;
  FUNCTION_OF_MPI(MPI_Win_create)
  (words, sizeof words, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  FUNCTION_OF_MPI(MPI_Win_fence)(0, window);
  FUNCTION_OF_MPI(MPI_Put)(own, kWords, MPI_INT, right, 0, kWords, MPI_INT, window);
  FUNCTION_OF_MPI(MPI_Win_fence)(0, window);
  for (int n = 0; n < kWords; ++n) EXPECT_EQUAL(words[n], left * kWords + n);
  FUNCTION_OF_MPI(MPI_Get)(got, kWords, MPI_INT, right, 0, kWords, MPI_INT, window);
  FUNCTION_OF_MPI(MPI_Win_fence)(0, window);
  for (int n = 0; n < kWords; ++n) EXPECT_EQUAL(got[n], own[n]);
  words[0] = 0;
  FUNCTION_OF_MPI(MPI_Win_fence)(0, window);
  for (int to = 0; to < size; ++to)
    FUNCTION_OF_MPI(MPI_Accumulate)(&right, 1, MPI_INT, to, 0, 1, MPI_INT, MPI_SUM, window);
  FUNCTION_OF_MPI(MPI_Win_fence)(0, window);
  EXPECT_EQUAL(words[0], size * (size - 1) / 2);
  FUNCTION_OF_MPI(MPI_Win_free)(&window);
  if (rank == 0) printf("a window of %d\n", size);
  MPI_Finalize();
  return 0;
}
