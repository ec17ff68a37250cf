/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_order.c - messages of a rank to the next one in the ring are matched in the order in which
 * they were sent. Knows nothing of Nagaya.
 *   mpi_order turns COUNT   sent by two threads that take turns (MPI_THREAD_SERIALIZED)
 *   mpi_order many COUNT    synchronous ones, all of them sent before the first is received */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { kTag = 5 };

static int rank, size, count;

static int next_rank(void) {
  return (rank + 1) % size;
}
static void receive_all(void) {
  for (int n = 0; n < count; ++n) {
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, (rank + size - 1) % size, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQUAL(got, n);
  }
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int sent;

/* The messages of one of the two threads: all that are even, or odd. */
static void* send_by_turns(void* which) {
  pthread_mutex_lock(&mutex);
  for (int n = *(const int*)which; n < count; n += 2) {
    while (sent != n) pthread_cond_wait(&changed, &mutex);
    MPI_Send(&n, 1, MPI_INT, next_rank(), kTag, MPI_COMM_WORLD);
    sent = n + 1;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void turns(void) {
  const int even = 0, odd = 1;
  pthread_t thread;
  EXPECT_EQUAL(pthread_create(&thread, NULL, send_by_turns, (void*)&odd), 0);
  send_by_turns((void*)&even);
  pthread_join(thread, NULL);
  receive_all();
}

static void many(void) {
  int* const data = malloc((size_t)count * sizeof *data);
  MPI_Request* const requests = malloc((size_t)count * sizeof(MPI_Request));
  for (int n = 0; n < count; ++n) {
    data[n] = n;
    MPI_Issend(&data[n], 1, MPI_INT, next_rank(), kTag, MPI_COMM_WORLD, &requests[n]);
  }
  receive_all();
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  free(requests);
  free(data);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  EXPECT(provided >= MPI_THREAD_SERIALIZED);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQUAL(argc, 3);
  count = atoi(argv[2]);
  (strcmp(argv[1], "turns") == 0 ? turns : many)();
  if (rank == 0) printf("%s in order among %d\n", argv[1], size);
  MPI_Finalize();
  return 0;
}
