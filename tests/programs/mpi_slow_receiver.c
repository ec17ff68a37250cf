/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_slow_receiver.c SECONDS - rank 1 makes no call of MPI for so long, while rank 0 sends it
 * messages that are short enough to be handed over at once, 256 MiB in all, and exchanges others
 * with rank 2, which lives on the same node as rank 1. Then rank 1 receives and checks everything.
 * Says how long the longest exchange took. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 64 << 10, MESSAGES = 4096, SMALL = 100000, EXCHANGES = 200, TAG = 1, SMALL_TAG = 2 };

static unsigned char data[BYTES];

static void expect(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "%s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void send_all(void) {
  MPI_Request* const requests = malloc((MESSAGES + SMALL) * sizeof *requests);
  int* const numbers = malloc(SMALL * sizeof *numbers);
  memset(data, 7, sizeof data);
  for (int n = 0; n < MESSAGES; ++n)
    MPI_Isend(data, BYTES, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &requests[n]);
  for (int n = 0; n < SMALL; ++n) {
    numbers[n] = n;
    MPI_Isend(&numbers[n], 1, MPI_INT, 1, SMALL_TAG, MPI_COMM_WORLD, &requests[MESSAGES + n]);
  }
  double longest = 0;
  for (int n = 0, back = -1; n < EXCHANGES; ++n) {
    const double since = MPI_Wtime();
    MPI_Send(&n, 1, MPI_INT, 2, TAG, MPI_COMM_WORLD);
    MPI_Recv(&back, 1, MPI_INT, 2, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(back == n, "another number came back");
    if (MPI_Wtime() - since > longest) longest = MPI_Wtime() - since;
  }
  printf("longest exchange %.3f s\n", longest);
  fflush(stdout);
  MPI_Waitall(MESSAGES + SMALL, requests, MPI_STATUSES_IGNORE);
}

static void receive_all(void) {
  for (int n = 0, number = -1; n < SMALL; ++n) {
    MPI_Recv(&number, 1, MPI_INT, 0, SMALL_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(number == n, "a small message is lost, or out of order");
  }
  for (int n = 0; n < MESSAGES; ++n) {
    memset(data, 0, sizeof data);
    MPI_Recv(data, BYTES, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(data[0] == 7 && data[BYTES - 1] == 7, "a large message is not what was sent");
  }
}

int main(int argc, char** argv) {
  int rank, number;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect(argc == 2, "usage: mpi_slow_receiver SECONDS");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) send_all();
  if (rank == 1) {
    sleep((unsigned)atoi(argv[1]));
    receive_all();
  }
  for (int n = 0; rank == 2 && n < EXCHANGES; ++n) {
    MPI_Recv(&number, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&number, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
