/* SPDX-License-Identifier: BSD-3-Clause */
#include "communicators.h"

#include <mpi.h>

#include "calls.h"
#include "matrix.h"

enum { kHandleOfContext = 10 };

/* A handle that blacs_get() has told. */
static MPI_Comm communicator_of(int handle, int language) {
  return language == 0 ? Cblacs2sys_handle(handle) : MPI_Comm_f2c(handle);
}

/* Row by row, all of the grid's processes and no others. */
static void check_communicator(MPI_Comm comm, int rank, int size, int sum) {
  int own = -1, processes = -1, world = -1, total = 0;
  MPI_Comm_rank(comm, &own);
  MPI_Comm_size(comm, &processes);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Allreduce(&world, &total, 1, MPI_INT, MPI_SUM, comm);
  if (own != rank || processes != size || total != sum)
    fail("rank %d of %d, sum %d, not %d of %d, sum %d", own, processes, total, rank, size, sum);
}

/* `half`: the caller's processes in their order, the last one of the world first. The program frees
 * it before anybody asks for the grid's. */
static void check_grid_of_half(const struct grid_calls* calls, int language, MPI_Comm* half) {
  int size, own, world, sum, context, handle, again, rows, columns, row, column;
  MPI_Comm_size(*half, &size);
  MPI_Comm_rank(*half, &own);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Allreduce(&world, &sum, 1, MPI_INT, MPI_SUM, *half);
  context = calls->system_handle(*half);
  calls->gridinit(&context, "Col", size / (size % 2 == 0 ? 2 : 1), size % 2 == 0 ? 2 : 1);
  MPI_Comm_free(half);
  calls->gridinfo(context, &rows, &columns, &row, &column);
  calls->get(context, kHandleOfContext, &handle);
  check_communicator(communicator_of(handle, language), row * columns + column, size, sum);
  calls->get(context, kHandleOfContext, &again);
  if (communicator_of(again, language) != communicator_of(handle, language))
    fail("the grid has another communicator now");
  calls->gridinit(&handle, "Row", 1, size); /* of the grid's processes, row by row */
  calls->gridexit(context);
  calls->get(handle, kHandleOfContext, &again);
  check_communicator(communicator_of(again, language), row * columns + column, size, sum);
  calls->gridexit(handle);
}

void run_communicators(int count, int processes, int own) {
  for (int n = 0; n < count; ++n)
    for (int language = 0; language < kLanguages; ++language) {
      MPI_Comm half;
      MPI_Comm_split(MPI_COMM_WORLD, processes > 1 ? own % 2 : 0, -own, &half);
      check_grid_of_half(&grid_calls[language], language, &half);
    }
}
