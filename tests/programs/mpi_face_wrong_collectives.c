/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_face_wrong_collectives.c - collectives with wrong arguments: the error handler of the
 * communicator is called, with the class that the standard names. Knows nothing of Nagaya. */
#include <mpi.h>
#include <stdlib.h>

#include "expect.h"

static int told, told_class; /* by the error handler */

static void note(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  ++told;
  MPI_Error_class(*error, &told_class);
}

/* The call returns an error of that class, after one call of the error handler. */
#define EXPECT_ERROR(call, wanted)    \
  do {                                \
    int class_;                       \
    told = 0;                         \
    MPI_Error_class(call, &class_);   \
    EXPECT_EQUAL(class_, wanted);     \
    EXPECT_EQUAL(told, 1);            \
    EXPECT_EQUAL(told_class, wanted); \
  } while (0)

static void move_wrongly(MPI_Comm comm, int size) {
  int in[64] = {0}, out[64] = {0}, counts[64], places[64] = {0};
  MPI_Request request;
  for (int n = 0; n < size; ++n) counts[n] = n == 0 ? -1 : 1;
  EXPECT_ERROR(MPI_Bcast(in, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
  EXPECT_ERROR(MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE);
  EXPECT_ERROR(MPI_Bcast(in, 1, MPI_INT, size, comm), MPI_ERR_ROOT);
  EXPECT_ERROR(MPI_Bcast(in, 1, MPI_INT, -1, comm), MPI_ERR_ROOT);
  EXPECT_ERROR(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
  EXPECT_ERROR(MPI_Bcast(NULL, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
  EXPECT_ERROR(MPI_Ibcast(in, -1, MPI_INT, 0, comm, &request), MPI_ERR_COUNT);
  EXPECT_ERROR(MPI_Bcast_init(in, 1, MPI_INT, size, comm, MPI_INFO_NULL, &request), MPI_ERR_ROOT);
  EXPECT_ERROR(MPI_Bcast_c(in, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
  EXPECT_ERROR(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, -3, comm), MPI_ERR_ROOT);
  EXPECT_ERROR(MPI_Scatter(in, 1, MPI_INT, out, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
  EXPECT_ERROR(MPI_Allgather(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm), MPI_ERR_BUFFER);
  EXPECT_ERROR(MPI_Allgatherv(in, 1, MPI_INT, out, counts, places, MPI_INT, comm), MPI_ERR_COUNT);
  EXPECT_ERROR(MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_DATATYPE_NULL, comm), MPI_ERR_TYPE);
  EXPECT_ERROR(MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm),
               MPI_ERR_COUNT);
  EXPECT_ERROR(MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm), MPI_ERR_TOPOLOGY);
}

static void reduce_wrongly(MPI_Comm comm, int rank, int size) {
  int in[64] = {0}, out[64] = {0}, counts[64];
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  for (int n = 0; n < size; ++n) counts[n] = n == 0 ? -1 : 1;
  EXPECT_ERROR(MPI_Allreduce(in, out, -1, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
  EXPECT_ERROR(MPI_Allreduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm), MPI_ERR_TYPE);
  EXPECT_ERROR(MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
  EXPECT_ERROR(MPI_Allreduce(in, out, 1, MPI_INT, MPI_REPLACE, comm), MPI_ERR_OP);
  EXPECT_ERROR(MPI_Allreduce(in, out, 1, MPI_INT, MPI_MAXLOC, comm), MPI_ERR_OP);
  EXPECT_ERROR(MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_BAND, comm), MPI_ERR_OP);
  EXPECT_ERROR(MPI_Allreduce(in, out, 1, pair, MPI_SUM, comm), MPI_ERR_OP);
  EXPECT_ERROR(MPI_Allreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
  EXPECT_ERROR(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, size, comm), MPI_ERR_ROOT);
  if (size > 1)
    EXPECT_ERROR(MPI_Reduce(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, (rank + 1) % size, comm),
                 MPI_ERR_BUFFER);
  EXPECT_ERROR(MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
  EXPECT_ERROR(MPI_Scan(NULL, out, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
  MPI_Type_free(&pair);
}

/* MPICH refuses these, although they would do no harm: programs rely on it. */
static void send_from_received_block(MPI_Comm comm, int rank, int size) {
  int block[64] = {0}, ones[64], places[64];
  for (int n = 0; n < size; ++n) ones[n] = 1, places[n] = n;
  EXPECT_ERROR(MPI_Allgather(&block[rank], 1, MPI_INT, block, 1, MPI_INT, comm), MPI_ERR_BUFFER);
  EXPECT_ERROR(MPI_Allgatherv(&block[rank], 1, MPI_INT, block, ones, places, MPI_INT, comm),
               MPI_ERR_BUFFER);
  EXPECT_ERROR(MPI_Alltoall(block, 1, MPI_INT, block, 1, MPI_INT, comm), MPI_ERR_BUFFER);
  EXPECT_ERROR(MPI_Alltoallv(block, ones, places, MPI_INT, block, ones, places, MPI_INT, comm),
               MPI_ERR_BUFFER);
  EXPECT_ERROR(MPI_Allreduce(block, block, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
  EXPECT_ERROR(MPI_Scan(block, block, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
  if (size > 1) return; /* the others' calls would wait for the root's */
  EXPECT_ERROR(MPI_Gather(block, 1, MPI_INT, block, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
  EXPECT_ERROR(MPI_Scatterv(block, ones, places, MPI_INT, block, 1, MPI_INT, 0, comm),
               MPI_ERR_BUFFER);
  EXPECT_ERROR(MPI_Reduce(block, block, 1, MPI_INT, MPI_SUM, 0, comm), MPI_ERR_BUFFER);
}

/* Rank 1 expects more than the root sends. */
static void broadcast_too_little(MPI_Comm comm, int rank, int size) {
  int block[64] = {0};
  if (size == 1) return;
  if (rank == 1)
    EXPECT_ERROR(MPI_Bcast(block, 2, MPI_INT, 0, comm), MPI_ERR_OTHER);
  else
    EXPECT_EQUAL(MPI_Bcast(block, 1, MPI_INT, 0, comm), MPI_SUCCESS);
}

int main(int argc, char** argv) {
  int rank, size, sum = 0;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_errhandler(note, &handler);
  const MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF};
  for (int n = 0; n < 2; ++n) {
    MPI_Comm_set_errhandler(comms[n], handler);
    MPI_Comm_rank(comms[n], &rank);
    MPI_Comm_size(comms[n], &size);
    move_wrongly(comms[n], size);
    reduce_wrongly(comms[n], rank, size);
    send_from_received_block(comms[n], rank, size);
    broadcast_too_little(comms[n], rank, size);
    MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, comms[n]); /* nothing is left of all that */
    EXPECT_EQUAL(sum, size);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("each error\n");
  MPI_Finalize();
  return 0;
}
