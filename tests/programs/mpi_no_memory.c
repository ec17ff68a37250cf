/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_no_memory.c - a rank that has no memory for what has arrived.
 *
 *   mpi_no_memory              its receives end with MPI_ERR_NO_MEM, and no message is lost
 *   mpi_no_memory collective   rank 2, which leads its node, gets MPI_ERR_NO_MEM, and ends the job
 */
#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "expect.h"

enum { kMessages = 20, kGo = 100 };

extern void* __libc_malloc(size_t bytes); /* of glibc */

enum { kBlocks = 1 << 20, kLongBytes = 1 << 20, kEndOfJob = 7 };
/* Only the thread under test lacks memory: without it, other threads of the MPI end the process. */
static _Thread_local bool has_no_memory, has_no_long_memory;

/* In place of libc's for all libraries of the program. */
void* malloc(size_t bytes) {
  if (!has_no_memory && !(has_no_long_memory && bytes > kLongBytes)) return __libc_malloc(bytes);
  errno = ENOMEM;
  return NULL;
}

static int class_of(int error) {
  int found;
  MPI_Error_class(error, &found);
  return found;
}

static void receive_all(void) {
  for (int tag = kMessages - 1; tag >= 0; --tag) {
    int got = -1;
    EXPECT_EQUAL(MPI_Recv(&got, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE), 0);
    EXPECT_EQUAL(got, tag);
  }
}

/* Neither receive gets anything: messages of other tags come before theirs. */
static void receive_without_memory(void) {
  const int last = kMessages - 1;
  int got[2] = {-1, -1};
  MPI_Request request;
  has_no_memory = true;
  MPI_Send(NULL, 0, MPI_INT, 0, kGo, MPI_COMM_WORLD);
  MPI_Irecv(&got[0], 1, MPI_INT, 0, last, MPI_COMM_WORLD, &request);
  const int waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
  const int received = MPI_Recv(&got[1], 1, MPI_INT, 0, last, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  has_no_memory = false;
  EXPECT_EQUAL(class_of(waited), MPI_ERR_NO_MEM);
  EXPECT_EQUAL(class_of(received), MPI_ERR_NO_MEM);
  EXPECT(got[0] == -1 && got[1] == -1);
}

/* The blocks of a node pass through memory of its leader's. */
static void gather_without_memory(int rank) {
  int* const block = malloc(kBlocks * sizeof *block);
  int* const all = malloc(4 * kBlocks * sizeof *all);
  has_no_long_memory = rank == 2;
  const int error = MPI_Gather(block, kBlocks, MPI_INT, all, kBlocks, MPI_INT, 0, MPI_COMM_WORLD);
  has_no_long_memory = false;
  if (rank != 2) return;
  EXPECT_EQUAL(class_of(error), MPI_ERR_NO_MEM);
  MPI_Abort(MPI_COMM_WORLD, kEndOfJob);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (argc > 1) gather_without_memory(rank);
  for (int time = 0; time < 2; ++time) { /* the first fills the lists of requests */
    if (rank == 0) {
      MPI_Recv(NULL, 0, MPI_INT, 1, kGo, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int tag = 0; tag < kMessages; ++tag) MPI_Send(&tag, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
    } else if (time == 0) {
      MPI_Send(NULL, 0, MPI_INT, 0, kGo, MPI_COMM_WORLD);
      receive_all();
    } else {
      receive_without_memory();
      receive_all();
    }
  }
  if (rank == 1) printf("nothing lost\n");
  MPI_Finalize();
  return 0;
}
