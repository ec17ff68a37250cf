/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bsends.c SECONDS - a persistent buffered send is started again while another thread completes
 * the copy of its last start. Each start sends its message once, and each wait ends once. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "expect.h"

enum { kInts = 50000, kAhead = 8 }; /* beyond the eager limit; starts that nobody has received */

static atomic_bool is_over;

static void* make_progress(void* unused) {
  int found;
  while (!is_over) MPI_Iprobe(1, 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  return unused;
}

/* The start fails; the request is as it was. */
static void start_without_buffer(MPI_Request* request) {
  int class;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Start(request), &class);
  EXPECT_EQUAL(class, MPI_ERR_BUFFER);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void send(double seconds) {
  static int data[kInts];
  const int bytes = (kAhead + 2) * (int)(sizeof data + MPI_BSEND_OVERHEAD);
  void* buffer = malloc((size_t)bytes);
  int detached, last = -1;
  pthread_t thread;
  MPI_Request request;
  MPI_Bsend_init(data, kInts, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
  start_without_buffer(&request);
  MPI_Buffer_attach(buffer, bytes);
  EXPECT_EQUAL(pthread_create(&thread, NULL, make_progress, NULL), 0);
  const double end = MPI_Wtime() + seconds;
  for (int round = 0; last < 0; ++round) {
    if (MPI_Wtime() > end) last = round;
    data[0] = data[kInts - 1] = last < 0 ? round : -1;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(request != MPI_REQUEST_NULL);
    if (round % kAhead == kAhead - 1)
      MPI_Recv(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Buffer_detach(&buffer, &detached);
  is_over = true;
  pthread_join(thread, NULL);
  MPI_Request_free(&request);
  MPI_Recv(&detached, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT_EQUAL(detached, last);
  free(buffer);
}

static void receive(void) {
  static int data[kInts];
  int round = 0;
  for (;; ++round) {
    MPI_Recv(data, kInts, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQUAL(data[0], data[kInts - 1]);
    if (data[0] < 0) break;
    EXPECT_EQUAL(data[0], round);
    if (round % kAhead == kAhead - 1) MPI_Send(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD);
  }
  MPI_Send(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD);
  MPI_Send(&round, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank, provided;
  EXPECT(argc == 2);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  EXPECT_EQUAL(provided, MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    send(atof(argv[1]));
  else
    receive();
  if (rank == 0) printf("each start once\n");
  MPI_Finalize();
  return 0;
}
