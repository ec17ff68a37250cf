/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_spawn.c - a job spawns one of its own size; both use nagaya/comm.h. Each process of the one
 * meets the others of its own job there, and nobody of the other. */
#include <mpi.h>
#include <nagaya/comm.h>

#include "expect.h"

enum { MOST = 16 };

int main(int argc, char** argv) {
  int rank, size;
  MPI_Comm parents, other;
  nagaya_process own[MOST], others[MOST];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_parent(&parents);
  EXPECT(size <= MOST);
  EXPECT_EQUAL(nagaya_comm_init(), 0);
  EXPECT_EQUAL(nagaya_comm_init(), 0);
  if (parents == MPI_COMM_NULL)
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, size, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                   MPI_ERRCODES_IGNORE);
  else
    other = parents;
  EXPECT_EQUAL(nagaya_comm_size(), size);
  EXPECT_EQUAL(nagaya_comm_rank(), rank);
  for (int n = 0; n < size; ++n) EXPECT_EQUAL(nagaya_comm_process(n, &own[n]), 0);
  MPI_Sendrecv(own, sizeof own, MPI_BYTE, rank, 0, others, sizeof others, MPI_BYTE, rank, 0, other,
               MPI_STATUS_IGNORE);
  for (int n = 0; n < size; ++n) {
    EXPECT_EQUAL(nagaya_comm_rank_of(own[n]), n);
    EXPECT(nagaya_comm_rank_of(others[n]) < 0);
  }
  EXPECT_EQUAL(nagaya_comm_barrier(), 0);
  EXPECT_EQUAL(nagaya_comm_finalize(), 0);
  EXPECT_EQUAL(nagaya_comm_barrier(), 0); /* one of two has left */
  EXPECT_EQUAL(nagaya_comm_finalize(), 0);
  EXPECT(nagaya_comm_barrier() < 0);
  MPI_Barrier(other);
  if (parents == MPI_COMM_NULL && rank == 0) printf("two worlds of %d\n", size);
  MPI_Finalize();
  return 0;
}
