/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_face_fatal.c - a wrong call of one function, under the error handlers that communicators and
 * windows have at first, which end the job. Knows nothing of Nagaya.
 *   send        to a rank that there is not
 *   wait        for a message that is longer than the buffer
 *   put         beyond the window
 *   return      as send, under MPI_ERRORS_RETURN: the program goes on */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void receive_too_little(int rank) {
  int numbers[8] = {0};
  MPI_Request request;
  MPI_Irecv(numbers, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
  MPI_Send(numbers + 2, 4, MPI_INT, rank, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void put_too_far(int size) {
  int number = 0, *memory;
  MPI_Win window;
  MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&number, 1, MPI_INT, size, 0, 1, MPI_INT, window);
}

int main(int argc, char** argv) {
  const char* const act = argc > 1 ? argv[1] : "";
  int number = 0, rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(act, "return") == 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (strcmp(act, "wait") == 0)
    receive_too_little(rank);
  else if (strcmp(act, "put") == 0)
    put_too_far(size);
  else
    MPI_Send(&number, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
  if (rank == 0) puts("goes on");
  MPI_Finalize();
  return 0;
}
