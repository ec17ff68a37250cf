/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_waits.c - waits of MPI and waits of Nagaya in one program. The first half of the ranks
 * receive from the second.
 *
 *   mpi_waits word ROUNDS THREADS   a receiver posts a receive, and waits for a counter that its
 *                                   sender raises only after its synchronous send
 *   mpi_waits full ROUNDS THREADS   the same behind more messages than a mailbox holds
 *   mpi_waits idle SECONDS HOW      rank 0 waits that long for its sender; repeated until it is
 *                                   awake in time; prints how often and how long it slept
 *   mpi_waits idle-with-window SECONDS HOW   the same while a window of Nagaya's is open
 *
 *   mpi_waits window TIMES 1        adds TIMES times to a window of Open MPI's at rank 1, which
 *                                   waits in a barrier; repeated; prints the fewest sleeps of rank
 *                                   1 */
#include <mpi.h>
#include <nagaya/llcl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"
#include "functions_of_mpi.h"

enum { kLimitMs = 60000, kThreadsMax = 8, kSmall = 600, kRoundsMax = 8, kSleeps = 30 };

static const int sizes[] = {1, 100, 1000, 20000}; /* [ints]: eager and rendezvous */

static int rank, size, rounds, before; /* `before`: small messages in front of each */

/* ---- word, full ------------------------------------------------------------------------------ */

static void fill(int* data, int count, int round, int tag) {
  for (int n = 0; n < count; ++n) data[n] = n * 7 + round * 1000 + tag;
}

static void receive(int from, int tag) {
  uint64_t counter = 0;
  nagaya_remote place;
  int *const got = malloc(sizeof(int) * 20000), *const expected = malloc(sizeof(int) * 20000);
  EXPECT_EQUAL(nagaya_llcl_register(&counter, sizeof counter, &place), 0);
  MPI_Send(&place, sizeof place, MPI_BYTE, from, tag, MPI_COMM_WORLD);
  for (int round = 1; round <= rounds; ++round) {
    const int count = sizes[round % 4];
    MPI_Request request;
    MPI_Irecv(got, count, MPI_INT, from, kThreadsMax + tag, MPI_COMM_WORLD, &request);
    EXPECT_EQUAL(nagaya_llcl_wait_counter(&counter, (uint64_t)round, kLimitMs), 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    fill(expected, count, round, tag);
    EXPECT(memcmp(got, expected, sizeof(int) * (size_t)count) == 0);
    for (int n = 0; n < before; ++n) {
      MPI_Recv(got, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQUAL(*got, round * before + n);
    }
  }
  EXPECT_EQUAL(nagaya_llcl_deregister(&place), 0);
  free(got);
  free(expected);
}

static void send(int to, int tag) {
  nagaya_remote place;
  int* const data = malloc(sizeof(int) * 20000);
  int small[kSmall];
  MPI_Request requests[kSmall];
  MPI_Recv(&place, sizeof place, MPI_BYTE, to, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int round = 1; round <= rounds; ++round) {
    for (int n = 0; n < before; ++n) {
      small[n] = round * before + n;
      MPI_Isend(&small[n], 1, MPI_INT, to, tag, MPI_COMM_WORLD, &requests[n]);
    }
    const int count = sizes[round % 4];
    fill(data, count, round, tag);
    MPI_Ssend(data, count, MPI_INT, to, kThreadsMax + tag, MPI_COMM_WORLD);
    uint32_t done = 0;
    const nagaya_llcl_transfer nothing = {place, data, 0, nagaya_flag(&done)};
    int error;
    do error = nagaya_llcl_try_write_notify(&nothing, &place);
    while (error == -11 /* EAGAIN */);
    EXPECT_EQUAL(error, 0);
    EXPECT_EQUAL(nagaya_llcl_wait_flag(&done, kLimitMs), 0);
    MPI_Waitall(before, requests, MPI_STATUSES_IGNORE);
  }
  free(data);
}

static void* one_thread(void* tag) {
  const int half = size / 2;
  if (rank < half)
    receive(rank + half, *(int*)tag);
  else
    send(rank - half, *(int*)tag);
  return NULL;
}

static void words(const char* kind, int threads) {
  pthread_t all[kThreadsMax];
  int tags[kThreadsMax];
  for (int n = 0; n < threads; ++n) {
    tags[n] = n;
    EXPECT_EQUAL(pthread_create(&all[n], NULL, one_thread, &tags[n]), 0);
  }
  for (int n = 0; n < threads; ++n) pthread_join(all[n], NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%s among %d\n", kind, size);
}

/* ---- idle ------------------------------------------------------------------------------------ */

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Receives the sender's time in the way `how`. */
static double wait_idly(const char* how) {
  double sent = 0;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int index;
  if (strcmp(how, "probe") == 0) MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (strcmp(how, "recv") == 0 || strcmp(how, "probe") == 0) {
    MPI_Recv(&sent, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return sent;
  }
  if (strcmp(how, "bcast") == 0) {
    MPI_Bcast(&sent, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    return sent;
  }
  MPI_Irecv(&sent, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[1]);
  if (strcmp(how, "wait") == 0) MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  if (strcmp(how, "waitany") == 0) MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  if (strcmp(how, "waitall") == 0) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (strcmp(how, "waitsome") == 0)
    MPI_Waitsome(2, requests, &index, &(int){0}, MPI_STATUSES_IGNORE);
  EXPECT(requests[1] == MPI_REQUEST_NULL);
  return sent;
}

/* A value of the main thread of that process in the kernel's words; -1: it has none of this form.
 */
static long status_of(int process, const char* form) {
  char path[64], line[256];
  long number = -1;
  char letter = 0;
  snprintf(path, sizeof path, "/proc/%d/status", process);
  FILE* const file = fopen(path, "r");
  EXPECT(file != NULL);
  while (fgets(line, sizeof line, file) != NULL) {
    if (strcmp(form, "State") == 0 && sscanf(line, "State: %c", &letter) == 1) number = letter;
    if (sscanf(line, form, &number) == 1) break;
  }
  fclose(file);
  return number;
}

/* How often it has slept: neither yields nor preemptions are among these switches. */
static long sleeps_of(int process) {
  const long count = status_of(process, "voluntary_ctxt_switches: %ld");
  EXPECT(count >= 0);
  return count;
}

/* As the /proc that is mounted here names this process. */
static int own_process(void) {
  char name[32] = "";
  EXPECT(readlink("/proc/self", name, sizeof name - 1) > 0);
  return atoi(name);
}

/* Until that process has slept for a second, in naps that last longer and longer. */
static void await_sleep(int process, long before) {
  const double limit_s = seconds(CLOCK_MONOTONIC) + kLimitMs / 1000.0;
  while (sleeps_of(process) < before + kSleeps) {
    EXPECT(seconds(CLOCK_MONOTONIC) < limit_s);
    usleep(1000);
  }
}

static int on_one_node(void) {
  MPI_Comm node;
  int processes;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &processes);
  MPI_Comm_free(&node);
  return processes == size;
}

/* Wakes the waiter. Returns 1 if the kernel says that it sleeps no more, though a nap would last.
 */
static int wake(int process, const char* how) {
  double now_s = seconds(CLOCK_MONOTONIC);
  if (strcmp(how, "bcast") == 0)
    MPI_Bcast(&now_s, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  else
    MPI_Send(&now_s, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  return status_of(process, "State") != 'S';
}

/* A round is one wait of rank 0. The next one follows if it was not awake at once: others may have
 * had the processors. */
static void idle(double duration_s, const char* how) {
  const int is_one_node = on_one_node();
  int process = own_process(), is_over = 0;
  MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int round = 0; round < kRoundsMax && !is_over; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    const long before = sleeps_of(process);
    int is_awake = 0;
    if (rank == 0) {
      const double begin_s = seconds(CLOCK_MONOTONIC);
      const double sent_s = wait_idly(how);
      const double end_s = seconds(CLOCK_MONOTONIC);
      is_awake = !is_one_node && end_s - sent_s < 0.005; /* its delegatee rings */
      if (round == 0)
        printf("slept %ld times in %.6f s\n", sleeps_of(process) - before, end_s - begin_s);
    } else if (rank == 1) {
      if (round == 0) usleep((useconds_t)(duration_s * 1e6));
      await_sleep(process, before);
      is_awake = wake(process, how) && is_one_node;
    }
    MPI_Allreduce(&is_awake, &is_over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  if (rank == 0) printf(is_over ? "awake at once\n" : "awake late\n");
}

static void idle_with_window(double duration_s, const char* how) {
  void* memory;
  MPI_Win window;
  MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  idle(duration_s, how);
  MPI_Win_free(&window);
}

/* ---- window ---------------------------------------------------------------------------------- */

/* Each time rank 1 has to answer. It sleeps when the first one comes. Where others want the
 * processors it may sleep again: the round with the fewest sleeps counts. */
static void window(int times) {
  const int one = 1;
  int sum = 0, process = own_process();
  long fewest = times;
  MPI_Win all;
  FUNCTION_OF_MPI(MPI_Win_create)
  (&sum, sizeof sum, sizeof sum, MPI_INFO_NULL, MPI_COMM_WORLD, &all);
  MPI_Bcast(&process, 1, MPI_INT, 1, MPI_COMM_WORLD);
  if (rank == 0) {
    usleep(200000);
    FUNCTION_OF_MPI(MPI_Win_lock)(MPI_LOCK_SHARED, 1, 0, all);
    for (int round = 0; round < kRoundsMax; ++round) {
      const long before = sleeps_of(process);
      for (int n = 0; n < times; ++n) {
        FUNCTION_OF_MPI(MPI_Accumulate)(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, all);
        FUNCTION_OF_MPI(MPI_Win_flush)(1, all);
      }
      const long sleeps = sleeps_of(process) - before;
      if (sleeps < fewest) fewest = sleeps;
    }
    FUNCTION_OF_MPI(MPI_Win_unlock)(1, all);
    printf("slept %ld times\n", fewest);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  FUNCTION_OF_MPI(MPI_Win_lock)(MPI_LOCK_SHARED, rank, 0, all);
  EXPECT_EQUAL(sum, rank == 1 ? kRoundsMax * times : 0);
  FUNCTION_OF_MPI(MPI_Win_unlock)(rank, all);
  FUNCTION_OF_MPI(MPI_Win_free)(&all);
}

int main(int argc, char** argv) {
  EXPECT(argc == 4);
  const int threads = atoi(argv[3]);
  const int wanted = threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int provided;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  EXPECT(provided >= wanted && threads <= kThreadsMax);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT(size % 2 == 0);
  rounds = atoi(argv[2]);
  before = strcmp(argv[1], "full") == 0 ? kSmall : 0;
  if (strcmp(argv[1], "idle") == 0)
    idle(atof(argv[2]), argv[3]);
  else if (strcmp(argv[1], "idle-with-window") == 0)
    idle_with_window(atof(argv[2]), argv[3]);
  else if (strcmp(argv[1], "window") == 0)
    window(rounds);
  else
    words(argv[1], threads);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
