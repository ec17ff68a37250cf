/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_face_foreign_calls.c - calls that wait in the MPI beneath, against calls that wait in the
 * face. Rank 0 is in a call of the face that ends only if rank 1 moves messages; rank 1 is in a
 * call of the MPI beneath that ends only when rank 0 has joined it.
 *
 *   pairs LEVEL       every pair; LEVEL of threads: 0 (single) or 3 (multiple)
 *   communicators N   makes and frees so many
 *   idle SECONDS      rank 1 waits so long beneath; prints its other threads' processor time
 *   jump              leaves a foreign call by longjmp(), from an error handler
 *   operation         a program's operation runs in the program's thread only
 *   attribute         messages in the delete function of an attribute
 *   duplicates        threads duplicate communicators by MPI_Comm_idup
 *   killed            rank 1 is in a foreign call for ever
 */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"

enum { kLarge = 300000, kMany = 400, kThreads = 3, kRounds = 50, kCopies = 50 };

static int rank;
static char sent[kLarge], got[kLarge];
static int many[kMany];
static MPI_Comm comm, inter; /* inter: between the two ranks, so it is not the face's */
static MPI_Win window;
static MPI_File file;
static char path[64];

/* ---- calls that wait in the face --------------------------------------------------------- */

static MPI_Request pending[kMany];
static int pending_count;

static void receive_later(void* buffer, int count, int tag) {
  MPI_Irecv(buffer, count, MPI_CHAR, 0, tag, comm, &pending[pending_count++]);
}

/* By rank 1 before, by rank 0 meanwhile. */
static void before_ssend(void) {
  receive_later(got, 10, 1);
}
static void do_ssend(void) {
  MPI_Ssend(sent, 10, MPI_CHAR, 1, 1, comm);
}

static void before_long_send(void) {
  receive_later(got, kLarge, 2);
}
static void do_long_send(void) {
  MPI_Send(sent, kLarge, MPI_CHAR, 1, 2, comm);
}

static void before_issend(void) {
  receive_later(got, 10, 3);
}
static void do_wait_for_issend(void) {
  MPI_Request request;
  MPI_Issend(sent, 10, MPI_CHAR, 1, 3, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void do_waitall_for_issend(void) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Issend(sent, 10, MPI_CHAR, 1, 3, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
static void do_waitany_for_issend(void) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int which = -1;
  MPI_Issend(sent, 10, MPI_CHAR, 1, 3, comm, &requests[1]);
  MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
  EXPECT_EQUAL(which, 1);
}
static void do_test_until_issend(void) {
  MPI_Request request;
  int flag = 0;
  MPI_Issend(sent, 10, MPI_CHAR, 1, 3, comm, &request);
  while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

/* More than fits into a port: the rest waits in rank 1's outbox. */
static void before_many(void) {
  for (int n = 0; n < kMany; ++n)
    MPI_Isend(&many[n], 1, MPI_INT, 0, 4, comm, &pending[pending_count++]);
}
static void do_receive_many(void) {
  for (int n = 0; n < kMany; ++n) {
    int one = -1;
    MPI_Recv(&one, 1, MPI_INT, 1, 4, comm, MPI_STATUS_IGNORE);
    EXPECT_EQUAL(one, n);
  }
}

static int sum_in, sum_out;
static void before_sum(void) {
  sum_in = rank + 1;
  MPI_Iallreduce(&sum_in, &sum_out, 1, MPI_INT, MPI_SUM, comm, &pending[pending_count++]);
}
static void do_sum(void) {
  MPI_Request request;
  sum_in = rank + 1;
  MPI_Iallreduce(&sum_in, &sum_out, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQUAL(sum_out, 3);
}

static const struct {
  const char* name;
  void (*before)(void); /* by rank 1 */
  void (*wait)(void);   /* by rank 0 */
} waits[] = {
    {"Ssend", before_ssend, do_ssend},
    {"Send (rendezvous)", before_long_send, do_long_send},
    {"Wait", before_issend, do_wait_for_issend},
    {"Waitall", before_issend, do_waitall_for_issend},
    {"Waitany", before_issend, do_waitany_for_issend},
    {"Test", before_issend, do_test_until_issend},
    {"Recv", before_many, do_receive_many},
    {"Iallreduce", before_sum, do_sum},
};

/* ---- calls that wait in the MPI beneath -------------------------------------------------- */

static MPI_Comm made;
static void do_free(void) {
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
}
static void do_dup(void) {
  MPI_Comm_dup(comm, &made);
  do_free();
}
static void do_idup(void) {
  MPI_Request request;
  MPI_Comm_idup(comm, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT(made != MPI_COMM_NULL);
  MPI_Barrier(made);
  do_free();
}
static void do_split(void) {
  MPI_Comm_split(comm, 0, -rank, &made);
  int its_rank = -1;
  MPI_Comm_rank(made, &its_rank);
  EXPECT_EQUAL(its_rank, 1 - rank);
  do_free();
}
static void do_cart(void) {
  const int dims = 2, periods = 1;
  MPI_Cart_create(comm, 1, &dims, &periods, 0, &made);
  do_free();
}
static void do_intercomm(void) {
  MPI_Intercomm_create(MPI_COMM_SELF, 0, comm, 1 - rank, 5, &made);
  do_free();
}
static void do_merge(void) {
  MPI_Intercomm_merge(inter, rank, &made);
  do_free();
}
static void do_barrier_between(void) {
  MPI_Barrier(inter);
}
static void do_message_between(void) {
  int one = rank;
  if (rank == 0)
    MPI_Send(&one, 1, MPI_INT, 0, 6, inter);
  else
    MPI_Recv(&one, 1, MPI_INT, 0, 6, inter, MPI_STATUS_IGNORE);
  EXPECT_EQUAL(one, 0);
}
static void do_wait_between(void) {
  int one = rank;
  MPI_Request request;
  if (rank == 0)
    MPI_Isend(&one, 1, MPI_INT, 0, 6, inter, &request);
  else
    MPI_Irecv(&one, 1, MPI_INT, 0, 6, inter, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQUAL(one, 0);
}
static void do_fence(void) {
  MPI_Win_fence(0, window);
  MPI_Win_fence(0, window);
}
static void do_window(void) {
  MPI_Win its;
  int* memory;
  MPI_Win_allocate(100, 1, MPI_INFO_NULL, comm, &memory, &its);
  MPI_Win_free(&its);
}
static void do_post_and_wait(void) {
  MPI_Group all, other;
  const int peer = 1 - rank;
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, 1, &peer, &other);
  if (rank == 0) {
    MPI_Win_start(other, 0, window);
    MPI_Win_complete(window);
  } else {
    MPI_Win_post(other, 0, window);
    MPI_Win_wait(window);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&other);
}
static void do_file(void) {
  MPI_File its;
  EXPECT_EQUAL(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &its), 0);
  MPI_File_close(&its);
}
static void do_write_all(void) {
  MPI_File_write_at_all(file, rank * 100, sent, 100, MPI_CHAR, MPI_STATUS_IGNORE);
}
static void do_set_size(void) {
  MPI_File_set_size(file, 1000);
}

static const struct {
  const char* name;
  void (*join)(void);
} foreign[] = {
    {"Comm_dup", do_dup},
    {"Comm_idup", do_idup},
    {"Comm_split", do_split},
    {"Cart_create", do_cart},
    {"Intercomm_create", do_intercomm},
    {"Intercomm_merge", do_merge},
    {"Barrier", do_barrier_between},
    {"Recv", do_message_between},
    {"Wait", do_wait_between},
    {"Win_fence", do_fence},
    {"Win_allocate", do_window},
    {"Win_wait", do_post_and_wait},
    {"File_open", do_file},
    {"File_write_at_all", do_write_all},
    {"File_set_size", do_set_size},
};

static void open_all(void) {
  static int memory[10];
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Intercomm_create(MPI_COMM_SELF, 0, comm, 1 - rank, 5, &inter);
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, comm, &window);
  snprintf(path, sizeof path, "file_of_all");
  EXPECT_EQUAL(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), 0);
}
static void close_all(void) {
  MPI_File_close(&file);
  MPI_Win_free(&window);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&comm);
}

static void run_pairs(void) {
  open_all();
  for (int n = 0; n < kMany; ++n) many[n] = n;
  for (size_t f = 0; f < sizeof foreign / sizeof *foreign; ++f)
    for (size_t w = 0; w < sizeof waits / sizeof *waits; ++w) {
      memset(sent, (int)(f + w), kLarge);
      MPI_Barrier(comm);
      if (rank == 0) {
        fprintf(stderr, "%s against %s\n", foreign[f].name, waits[w].name);
        usleep(1000);
        waits[w].wait();
        foreign[f].join();
      } else {
        pending_count = 0;
        waits[w].before();
        foreign[f].join();
        MPI_Waitall(pending_count, pending, MPI_STATUSES_IGNORE);
      }
    }
  close_all();
}

/* ---- others ------------------------------------------------------------------------------ */

static void make_communicators(int count) {
  MPI_Comm kept[8];
  for (int n = 0; n < count; ++n) {
    MPI_Comm* const its = &kept[n % 8];
    if (n >= 8) MPI_Comm_free(its);
    if (n % 2 != 0)
      MPI_Comm_dup(MPI_COMM_WORLD, its);
    else
      MPI_Comm_split(MPI_COMM_WORLD, 0, rank, its);
    int one = n;
    if (rank == 0)
      MPI_Send(&one, 1, MPI_INT, 1, 0, *its);
    else
      MPI_Recv(&one, 1, MPI_INT, 0, 0, *its, MPI_STATUS_IGNORE);
    EXPECT_EQUAL(one, n);
  }
  for (int n = 0; n < 8; ++n) MPI_Comm_free(&kept[n]);
}

static double seconds_of(int who) {
  struct rusage used;
  getrusage(who, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

static void idle(int seconds) {
  MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* the first foreign call */
  const double others = seconds_of(RUSAGE_SELF) - seconds_of(RUSAGE_THREAD);
  if (rank == 0) sleep((unsigned)seconds);
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  const double beneath = seconds_of(RUSAGE_SELF) - seconds_of(RUSAGE_THREAD) - others;
  const double before = seconds_of(RUSAGE_SELF);
  if (rank == 0) sleep((unsigned)seconds);
  int one = 1;
  if (rank == 0)
    MPI_Ssend(&one, 1, MPI_INT, 1, 0, comm);
  else
    MPI_Recv(&one, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  const double ours = seconds_of(RUSAGE_SELF) - before;
  if (rank == 1) printf("%.4f s beneath, %.4f s ours\n", beneath, ours);
}

static jmp_buf start;
static void leave(MPI_Comm* its, int* error, ...) {
  (void)its, (void)error;
  longjmp(start, 1);
}
static void jump(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(leave, &handler);
  MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 5, &inter);
  MPI_Comm_set_errhandler(inter, handler);
  for (int n = 0; n < 100; ++n) {
    if (setjmp(start) == 0) {
      MPI_Send(&n, 1, MPI_INT, 77, 0, inter); /* no such rank: beneath calls leave() */
      EXPECT(0);
    }
    int one = n;
    if (rank == 0)
      MPI_Ssend(&one, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQUAL(one, n);
  }
  MPI_Comm_free(&inter);
  MPI_Errhandler_free(&handler);
}

static pid_t other_thread; /* that has reduced */
static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  if (gettid() != getpid()) other_thread = gettid();
  for (int n = 0; n < *count; ++n) ((int*)inout)[n] += ((int*)in)[n];
}
static void reduce_beside_foreign_calls(void) {
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int n = 0; n < 10; ++n) {
    MPI_Request request;
    sum_in = rank + 1;
    if (rank == 0) usleep(5000); /* rank 1 is in the foreign call: it has to reduce, later */
    MPI_Iallreduce(&sum_in, &sum_out, 1, MPI_INT, op, comm, &request);
    if (rank == 0) usleep(5000);
    MPI_Comm_dup(comm, &made);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQUAL(sum_out, 3);
    MPI_Comm_free(&made);
  }
  EXPECT_EQUAL(other_thread, 0);
  MPI_Op_free(&op);
  MPI_Comm_free(&comm);
}

/* A callback, in which the thread is back from the foreign call. */
static int exchange(MPI_Comm its, int key, void* value, void* extra) {
  (void)its, (void)key, (void)value, (void)extra;
  int one = rank, other = -1;
  MPI_Sendrecv(&one, 1, MPI_INT, 1 - rank, 0, &other, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  EXPECT_EQUAL(other, 1 - rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &made); /* and away in it */
  MPI_Comm_free(&made);
  return MPI_SUCCESS;
}
static void free_with_attribute(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, exchange, &key, NULL);
  for (int n = 0; n < 100; ++n) {
    MPI_Comm its;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &its);
    MPI_Comm_set_attr(its, key, NULL);
    if (rank == 0)
      MPI_Issend(sent, 10, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
    else
      MPI_Irecv(got, 10, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
    MPI_Comm_free(&its);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free_keyval(&key);
}

static void* duplicate_often(void* original) {
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm copies[kCopies];
    MPI_Request requests[kCopies];
    for (int n = 0; n < kCopies; ++n) MPI_Comm_idup(*(MPI_Comm*)original, &copies[n], &requests[n]);
    MPI_Waitall(kCopies, requests, MPI_STATUSES_IGNORE);
    for (int n = 0; n < kCopies; ++n) MPI_Comm_free(&copies[n]);
  }
  return NULL;
}
static void duplicate_by_threads(void) {
  MPI_Comm originals[kThreads];
  pthread_t threads[kThreads];
  for (int n = 0; n < kThreads; ++n) MPI_Comm_dup(MPI_COMM_WORLD, &originals[n]);
  for (int n = 0; n < kThreads; ++n)
    EXPECT_EQUAL(pthread_create(&threads[n], NULL, duplicate_often, &originals[n]), 0);
  for (int n = 0; n < kThreads; ++n) pthread_join(threads[n], NULL);
  for (int n = 0; n < kThreads; ++n) MPI_Comm_free(&originals[n]);
}

static void be_killed(void) {
  if (rank == 1) {
    MPI_Irecv(got, 10, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &pending[0]);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }
  for (;;) { /* messages for the completer of rank 1 */
    MPI_Send(sent, 10, MPI_CHAR, 1, 9, MPI_COMM_WORLD);
    usleep(100);
  }
}

int main(int argc, char** argv) {
  int level = argc > 2 && strcmp(argv[1], "pairs") == 0 ? atoi(argv[2]) : 0, provided = 0;
  if (strcmp(argv[1], "duplicates") == 0) level = 3;
  MPI_Init_thread(&argc, &argv, level == 3 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const what = argv[1];
  if (strcmp(what, "pairs") == 0) run_pairs();
  if (strcmp(what, "communicators") == 0) make_communicators(atoi(argv[2]));
  if (strcmp(what, "idle") == 0) idle(atoi(argv[2]));
  if (strcmp(what, "jump") == 0) jump();
  if (strcmp(what, "operation") == 0) reduce_beside_foreign_calls();
  if (strcmp(what, "attribute") == 0) free_with_attribute();
  if (strcmp(what, "duplicates") == 0) duplicate_by_threads();
  if (strcmp(what, "killed") == 0) be_killed();
  MPI_Finalize();
  if (rank == 0) printf("%s: all passed\n", what);
}
