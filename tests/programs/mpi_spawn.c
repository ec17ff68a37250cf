/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_spawn.c - a job spawns one of its own size, and two of twice as many; all use nagaya/comm.h.
 * Each process of the one meets the others of its own job there, and nobody of the other. */
#include <mpi.h>
#include <nagaya/comm.h>

#include "expect.h"

enum { MOST = 16 };

static int rank, size;
static nagaya_process own[MOST];

/* `is_spawned`: the caller's job by the other. */
static void compare_worlds(MPI_Comm other, int is_spawned) {
  nagaya_process others[MOST];
  const int root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  int others_size;
  MPI_Comm_remote_size(other, &others_size);
  EXPECT(others_size <= MOST);
  for (int turn = 0; turn < 2; ++turn)
    if (turn == is_spawned)
      MPI_Bcast(own, sizeof own, MPI_BYTE, root, other);
    else
      MPI_Bcast(others, sizeof others, MPI_BYTE, 0, other);
  for (int n = 0; n < size; ++n) EXPECT_EQUAL(nagaya_comm_rank_of(own[n]), n);
  for (int n = 0; n < others_size; ++n) EXPECT(nagaya_comm_rank_of(others[n]) < 0);
}

int main(int argc, char** argv) {
  MPI_Comm other;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_parent(&other);
  const int is_spawned = other != MPI_COMM_NULL;
  EXPECT(size <= MOST);
  EXPECT_EQUAL(nagaya_comm_init(), 0);
  EXPECT_EQUAL(nagaya_comm_init(), 0);
  EXPECT_EQUAL(nagaya_comm_size(), size);
  EXPECT_EQUAL(nagaya_comm_rank(), rank);
  for (int n = 0; n < size; ++n) EXPECT_EQUAL(nagaya_comm_process(n, &own[n]), 0);
  if (is_spawned) compare_worlds(other, 1);
  for (int spawned = 0; !is_spawned && spawned < 3; ++spawned) {
    const int sizes[] = {size, 2 * size, 2 * size};
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, sizes[spawned], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                   MPI_ERRCODES_IGNORE);
    compare_worlds(other, 0);
    MPI_Comm_disconnect(&other);
  }
  EXPECT_EQUAL(nagaya_comm_barrier(), 0);
  EXPECT_EQUAL(nagaya_comm_finalize(), 0);
  EXPECT_EQUAL(nagaya_comm_barrier(), 0); /* one of two has left */
  EXPECT_EQUAL(nagaya_comm_finalize(), 0);
  EXPECT(nagaya_comm_barrier() < 0);
  if (is_spawned) MPI_Comm_disconnect(&other);
  if (!is_spawned && rank == 0) printf("four worlds, the first one of %d\n", size);
  MPI_Finalize();
  return 0;
}
