/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bsends.c SECONDS - buffered sends of two processes of one host.
 *
 * Empty ones, too, end without their receiver, which is outside of MPI.
 * A persistent one is started again while another thread completes the copy of its last start. Each
 * start sends its message once, and each wait ends once. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "expect.h"

enum { kInts = 50000, kAhead = 8 }; /* beyond the eager limit; starts that nobody has received */

enum { kEmpty = 1000, kWaitMostS = 60 }; /* more than a mailbox has room for */

/* All threads of both block the signal. */
static sigset_t signals(void) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGUSR1);
  return only;
}

static void send_empty_ones(void) {
  int receiver, bytes = kEmpty * MPI_BSEND_OVERHEAD;
  void* buffer = malloc((size_t)bytes);
  MPI_Request request, persistent;
  MPI_Recv(&receiver, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Buffer_attach(buffer, bytes);
  MPI_Bsend_init(NULL, 0, MPI_INT, 1, 5, MPI_COMM_WORLD, &persistent);
  for (int n = 0; n < kEmpty; ++n) {
    if (n % 3 == 0) {
      MPI_Bsend(NULL, 0, MPI_INT, 1, 5, MPI_COMM_WORLD);
    } else if (n % 3 == 1) {
      MPI_Ibsend(NULL, 0, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Start(&persistent);
      MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    }
  }
  EXPECT_EQUAL(kill(receiver, SIGUSR1), 0);
  MPI_Request_free(&persistent);
  MPI_Buffer_detach(&buffer, &bytes);
  free(buffer);
}

static void receive_empty_ones(void) {
  const int own = getpid();
  const sigset_t only = signals();
  MPI_Send(&own, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
  EXPECT_EQUAL(sigtimedwait(&only, NULL, &(struct timespec){kWaitMostS, 0}), SIGUSR1);
  for (int n = 0; n < kEmpty; ++n)
    MPI_Recv(NULL, 0, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

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
  const sigset_t only = signals();
  sigprocmask(SIG_BLOCK, &only, NULL);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  EXPECT_EQUAL(provided, MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    send_empty_ones();
  else
    receive_empty_ones();
  if (rank == 0)
    send(atof(argv[1]));
  else
    receive();
  if (rank == 0) printf("each start once\n");
  MPI_Finalize();
  return 0;
}
