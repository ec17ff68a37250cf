/* SPDX-License-Identifier: BSD-3-Clause */
/* fmpl_checks.c - every function of FMPL, with data that are checked. Ranks 0 .. n-1, at least 2.
 *
 *   fmpl_checks            all of it
 *   fmpl_checks hosts      what can be seen over several hosts
 *   fmpl_checks die N      messages and collectives for ever; the last rank kills itself after N
 *   fmpl_checks leave      the last rank returns from main while the others wait in a barrier
 *   fmpl_checks at_exit    fmpl_finalize() is called by an exit handler */
#include <complex.h>
#include <nagaya/comm.h>
#include <nagaya/fmpl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "expect.h"

enum { kIndexes = 64, kSmall = 8, kLarge = 3 << 20 };
enum { kLate = 40, kFirst = 41, kSecond = 42 };

static fmpl_area areas[kIndexes];
static fmpl_flag flags[kIndexes];
static int rank, size;

static unsigned char byte_of(int from, int to, size_t n) {
  return (unsigned char)(from * 31 + to * 7 + n * 13 + n / 256);
}
static void fill(unsigned char* buffer, size_t bytes, int from, int to) {
  for (size_t n = 0; n < bytes; ++n) buffer[n] = byte_of(from, to, n);
}
static void check(const unsigned char* buffer, size_t bytes, int from, int to) {
  for (size_t n = 0; n < bytes; ++n) EXPECT_EQUAL(buffer[n], byte_of(from, to, n));
}

/* ---- messages ---------------------------------------------------------------------------- */

/* Round the ring, everybody at once; index n is a rank's message to the next one. */
static void send_round(size_t bytes) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  unsigned char *const out = malloc(bytes + 1), *const in = malloc(bytes + 1);
  fmpl_request request;
  fill(out, bytes, rank, next);
  in[bytes] = 0xee;
  EXPECT_EQUAL(fmpl_irecv(in, bytes, previous, 1, &request), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_send(out, bytes, next, 1), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_wait_irecv(&request), FMPL_SUCCESS);
  check(in, bytes, previous, rank);
  EXPECT_EQUAL(in[bytes], 0xee);
  free(out);
  free(in);
}

static void send_and_receive(void) {
  static const size_t sizes[] = {0, 1, kSmall, 1000, 5000, 70000, kLarge};
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes; ++n) send_round(sizes[n]);
  for (int n = 0; n < 2000; ++n) send_round(kSmall);
}

/* To oneself, and all others: a message of each index, completed backwards. */
static void have_many_under_way(void) {
  enum { kBytes = 3000, kEach = 3 };
  const int peer = size - 1 - rank;
  static unsigned char out[kEach][kBytes], in[kEach][kBytes];
  fmpl_request sends[kEach], receives[kEach];
  for (int n = 0; n < kEach; ++n) {
    fill(out[n], kBytes, rank * kEach + n, peer);
    EXPECT_EQUAL(fmpl_isend(out[n], kBytes, peer, 10 + n, &sends[n]), FMPL_SUCCESS);
    EXPECT_EQUAL(fmpl_irecv(in[n], kBytes, peer, 10 + n, &receives[n]), FMPL_SUCCESS);
  }
  for (int n = kEach; n-- > 0;) {
    int flag = 0;
    while (!flag) EXPECT_EQUAL(fmpl_test_irecv(&receives[n], &flag), FMPL_SUCCESS);
    check(in[n], kBytes, peer * kEach + n, rank);
    for (flag = 0; !flag;) EXPECT_EQUAL(fmpl_test_isend(&sends[n], &flag), FMPL_SUCCESS);
  }
}

/* Starts two prepared requests again and again, with other data each time. */
static void send_prepared_messages(size_t bytes) {
  enum { kIndex = 2, kTimes = 300 };
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  unsigned char *const out = calloc(1, bytes), *const in = calloc(1, bytes);
  fmpl_request send, receive;
  EXPECT_EQUAL(fmpl_isend_prepare(out, bytes, next, kIndex, &send), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_irecv_prepare(in, bytes, previous, kIndex, &receive), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_wait_irecv(&receive), FMPL_SUCCESS); /* not started: complete */
  for (int n = 0; n < kTimes; ++n) {
    fill(out, bytes, rank + n, next);
    memset(in, 0, bytes);
    EXPECT_EQUAL(fmpl_irecv_start(&receive), FMPL_SUCCESS);
    EXPECT_EQUAL(fmpl_isend_start(&send), FMPL_SUCCESS);
    EXPECT_EQUAL(fmpl_wait_irecv(&receive), FMPL_SUCCESS);
    check(in, bytes, previous + n, rank);
    EXPECT_EQUAL(fmpl_wait_isend(&send), FMPL_SUCCESS);
  }
  EXPECT_EQUAL(fmpl_irecv_release(&receive), FMPL_SUCCESS);
  free(out);
  free(in);
}

/* A prepared receive gets what fmpl_send() sends; a started one can be taken back, and started
 * again; its index is its own until it is released. */
static void keep_an_index(void) {
  enum { kIndex = 3 };
  int value = rank, got = -1;
  fmpl_request receive, other;
  EXPECT_EQUAL(fmpl_irecv_prepare(&got, sizeof got, rank, kIndex, &receive), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_irecv(&got, sizeof got, rank, kIndex, &other), FMPL_ERR_INDEX);
  EXPECT_EQUAL(fmpl_irecv_prepare(&got, sizeof got, rank, kIndex, &other), FMPL_ERR_INDEX);
  EXPECT_EQUAL(fmpl_irecv_start(&receive), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_irecv_start(&receive), FMPL_ERR_INDEX);
  EXPECT_EQUAL(fmpl_irecv_release(&receive), FMPL_ERR_INDEX);
  EXPECT_EQUAL(fmpl_cancel_irecv(&receive), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_irecv(&got, sizeof got, rank, kIndex, &other), FMPL_ERR_INDEX);
  EXPECT_EQUAL(fmpl_irecv_start(&receive), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_send(&value, sizeof value, rank, kIndex), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_wait_irecv(&receive), FMPL_SUCCESS);
  EXPECT_EQUAL(got, rank);
  EXPECT_EQUAL(fmpl_irecv_release(&receive), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_irecv_start(&receive), FMPL_ERR_ARGUMENT); /* it has no index any more */
  EXPECT_EQUAL(fmpl_irecv(&got, sizeof got, rank, kIndex, &other), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_cancel_irecv(&other), FMPL_SUCCESS);
}

/* In place of a receive from any process. The last rank sends. */
static void receive_from_whom_comes_first(void) {
  enum { kMost = 64, kIndex = 21 };
  fmpl_request requests[kMost];
  int values[kMost], first = 0;
  const int others = size < 8 ? size : 8;
  if (rank == others - 1) {
    const int value = 1000 + rank;
    EXPECT_EQUAL(fmpl_send(&value, sizeof value, 0, kIndex + rank), FMPL_SUCCESS);
  }
  if (rank != 0) return;
  for (int from = 1; from < others; ++from)
    EXPECT_EQUAL(fmpl_irecv(&values[from], sizeof(int), from, kIndex + from, &requests[from]),
                 FMPL_SUCCESS);
  while (first == 0)
    for (int from = 1, flag = 0; from < others; ++from) {
      EXPECT_EQUAL(fmpl_test_irecv(&requests[from], &flag), FMPL_SUCCESS);
      if (flag) first = from;
    }
  EXPECT_EQUAL(first, others - 1);
  EXPECT_EQUAL(values[first], 1000 + first);
  for (int from = 1; from < others; ++from)
    EXPECT_EQUAL(fmpl_cancel_irecv(&requests[from]), from == first ? FMPL_ERR_CANCEL : 0);
}

static void cancel_receives(void) {
  int value = 0, flag = 0;
  fmpl_request request;
  const int peer = size - 1 - rank;
  EXPECT_EQUAL(fmpl_irecv(&value, sizeof value, peer, 20, &request), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_cancel_irecv(&request), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_test_irecv(&request, &flag), FMPL_SUCCESS);
  EXPECT_EQUAL(flag, 1);
  EXPECT_EQUAL(fmpl_barrier(FMPL_COMM_WORLD), FMPL_SUCCESS);
}

/* ---- the spool --------------------------------------------------------------------------- */

static void spool_what_nobody_awaits(void) {
  enum { kBytes = 1000 };
  static unsigned char spool[2 * kBytes], data[kBytes];
  if (rank == 0) {
    int sent, remain = 0;
    EXPECT_EQUAL(fmpl_sendbuff_set(spool, sizeof spool, 100), FMPL_SUCCESS);
    for (int n = 0; n < 2; ++n) {
      fill(data, kBytes, n, 1);
      EXPECT_EQUAL(fmpl_send(data, kBytes, 1, kFirst + n), FMPL_SUCCESS);
    }
    EXPECT_EQUAL(fmpl_barrier(FMPL_COMM_WORLD), FMPL_SUCCESS);
    do {
      EXPECT_EQUAL(fmpl_sendbuff_check(&sent, &remain), FMPL_SUCCESS);
      EXPECT_EQUAL(sent <= 2, 1);
    } while (remain != 0);
    EXPECT_EQUAL(fmpl_sendbuff_set(NULL, 0, 0), FMPL_SUCCESS);
  } else {
    EXPECT_EQUAL(fmpl_barrier(FMPL_COMM_WORLD), FMPL_SUCCESS);
    for (int n = 1; rank == 1 && n >= 0; --n) {
      EXPECT_EQUAL(fmpl_recv(data, kBytes, 0, kFirst + n), FMPL_SUCCESS);
      check(data, kBytes, n, 1);
    }
  }
  EXPECT_EQUAL(fmpl_barrier(FMPL_COMM_WORLD), FMPL_SUCCESS);
}

/* On one node only: to others short messages need no spool. */
static void fill_the_spool(void) {
  static unsigned char spool[100], data[80];
  if (rank == 0) {
    EXPECT_EQUAL(fmpl_sendbuff_set(spool, sizeof spool, 0), FMPL_SUCCESS);
    EXPECT_EQUAL(fmpl_send(data, sizeof data, 1, kFirst), FMPL_SUCCESS);
    EXPECT_EQUAL(fmpl_send(data, sizeof data, 1, kSecond), FMPL_ERR_SPOOL);
    EXPECT_EQUAL(fmpl_sendbuff_set(NULL, 0, 0), FMPL_ERR_SPOOL);
    EXPECT_EQUAL(fmpl_barrier(FMPL_COMM_WORLD), FMPL_SUCCESS);
    for (int sent, remain = 1; remain != 0;)
      EXPECT_EQUAL(fmpl_sendbuff_check(&sent, &remain), FMPL_SUCCESS);
    EXPECT_EQUAL(fmpl_sendbuff_set(NULL, 0, 0), FMPL_SUCCESS);
  } else {
    EXPECT_EQUAL(fmpl_barrier(FMPL_COMM_WORLD), FMPL_SUCCESS);
    if (rank == 1) EXPECT_EQUAL(fmpl_recv(data, sizeof data, 0, kFirst), FMPL_SUCCESS);
  }
  EXPECT_EQUAL(fmpl_barrier(FMPL_COMM_WORLD), FMPL_SUCCESS);
}

/* The time is up in the middle of a nap; the faster of two, for others want the processor. */
static void wait_no_longer_than_told(void) {
  enum { kPatienceMs = 650, kLateMostMs = 60, kMessages = 2 };
  static unsigned char spool[kMessages * sizeof(int)];
  long fastest_ms = 1000000;
  for (int n = 0; rank == 0 && n < kMessages; ++n) {
    struct timespec begin, end;
    if (n == 0)
      EXPECT_EQUAL(fmpl_sendbuff_set(spool, sizeof spool, 1000 * kPatienceMs), FMPL_SUCCESS);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    EXPECT_EQUAL(fmpl_send(&n, sizeof n, 1, kLate + n), FMPL_SUCCESS);
    clock_gettime(CLOCK_MONOTONIC, &end);
    const long ms = (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000;
    EXPECT(ms >= kPatienceMs - 1);
    if (ms < fastest_ms) fastest_ms = ms;
  }
  EXPECT(rank != 0 || fastest_ms < kPatienceMs + kLateMostMs);
  EXPECT_EQUAL(fmpl_barrier(FMPL_COMM_WORLD), FMPL_SUCCESS);
  for (int n = 0, got; rank == 1 && n < kMessages; ++n)
    EXPECT_EQUAL(fmpl_recv(&got, sizeof got, 0, kLate + n), FMPL_SUCCESS);
  for (int sent, remain = 1; rank == 0 && remain != 0;)
    EXPECT_EQUAL(fmpl_sendbuff_check(&sent, &remain), FMPL_SUCCESS);
  if (rank == 0) EXPECT_EQUAL(fmpl_sendbuff_set(NULL, 0, 0), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_barrier(FMPL_COMM_WORLD), FMPL_SUCCESS);
}

/* On one node only. Rank 1 posts its first receive between the two messages, and rank 0 looks at
 * nothing meanwhile: the second one finds the header for which the first one waits. */
static void keep_the_order_of_an_index(void) {
  enum { kNothing, kSpooled, kAwaited };
  static _Atomic int state;
  static unsigned char spool[64];
  _Atomic int* shared = &state;
  int values[2] = {0, 0};
  fmpl_request first;
  EXPECT_EQUAL(fmpl_bcast(&shared, sizeof shared, 0, FMPL_COMM_WORLD), FMPL_SUCCESS);
  if (rank == 0) {
    EXPECT_EQUAL(fmpl_sendbuff_set(spool, sizeof spool, 0), FMPL_SUCCESS);
    for (int n = 1; n <= 2; ++n) {
      EXPECT_EQUAL(fmpl_send(&n, sizeof n, 1, kFirst), FMPL_SUCCESS);
      for (state = kSpooled; n == 1 && state != kAwaited;) sched_yield();
    }
    for (int sent, remain = 1; remain != 0;)
      EXPECT_EQUAL(fmpl_sendbuff_check(&sent, &remain), FMPL_SUCCESS);
    EXPECT_EQUAL(fmpl_sendbuff_set(NULL, 0, 0), FMPL_SUCCESS);
  } else if (rank == 1) {
    while (*shared != kSpooled) sched_yield();
    EXPECT_EQUAL(fmpl_irecv(&values[0], sizeof(int), 0, kFirst, &first), FMPL_SUCCESS);
    *shared = kAwaited;
    EXPECT_EQUAL(fmpl_wait_irecv(&first), FMPL_SUCCESS);
    EXPECT_EQUAL(fmpl_recv(&values[1], sizeof(int), 0, kFirst), FMPL_SUCCESS);
    EXPECT_EQUAL(values[0], 1);
    EXPECT_EQUAL(values[1], 2);
  }
  EXPECT_EQUAL(fmpl_barrier(FMPL_COMM_WORLD), FMPL_SUCCESS);
}

/* ---- mistakes ---------------------------------------------------------------------------- */

static void refuse_mistakes(void) {
  char data[16] = "";
  fmpl_request request, second;
  EXPECT_EQUAL(fmpl_send(data, 1, size, 0), FMPL_ERR_ARGUMENT);
  EXPECT_EQUAL(fmpl_send(data, 1, -1, 0), FMPL_ERR_ARGUMENT);
  EXPECT_EQUAL(fmpl_recv(data, 1, 0, kIndexes), FMPL_ERR_ARGUMENT);
  EXPECT_EQUAL(fmpl_bcast(data, 1, size, FMPL_COMM_WORLD), FMPL_ERR_ARGUMENT);
  EXPECT_EQUAL(fmpl_bcast(data, 1, 0, 17), FMPL_ERR_ARGUMENT);
  EXPECT_EQUAL(fmpl_barrier(FMPL_COMM_NULL), FMPL_ERR_ARGUMENT);
  EXPECT_EQUAL(fmpl_reduce(data, 1, (fmpl_func*)refuse_mistakes, 0, 0, data), FMPL_ERR_ARGUMENT);
  EXPECT_EQUAL(fmpl_init(areas, flags, kIndexes), FMPL_ERR_INIT);
  /* An index that is in use already: seen on the own node. */
  EXPECT_EQUAL(fmpl_irecv(data, 1, rank, 30, &request), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_irecv(data, 1, rank, 30, &second), FMPL_ERR_INDEX);
  EXPECT_EQUAL(fmpl_cancel_irecv(&request), FMPL_SUCCESS);
}

static void truncate_a_message(void) {
  char out[16] = "0123456789abcde", in[16] = "...............";
  if (rank == 0) { /* between nodes the sender does not hear of it */
    const int status = fmpl_send(out, 16, 1, 31);
    EXPECT(status == FMPL_ERR_TRUNCATE || status == FMPL_SUCCESS);
  }
  if (rank != 1) return;
  EXPECT_EQUAL(fmpl_recv(in, 4, 0, 31), FMPL_ERR_TRUNCATE);
  EXPECT_EQUAL(strcmp(in, "0123..........."), 0);
}

/* ---- communicators and collectives ------------------------------------------------------- */

static void broadcast(int comm) {
  static unsigned char data[20000];
  for (int root = 0; root < fmpl_size(comm); ++root)
    for (size_t bytes = 1; bytes <= sizeof data; bytes *= 19) {
      memset(data, 0, sizeof data);
      if (fmpl_rank(comm) == root) fill(data, bytes, root, 5);
      EXPECT_EQUAL(fmpl_bcast(data, bytes, root, comm), FMPL_SUCCESS);
      check(data, bytes, root, 5);
    }
}

static void multiply(const void* in, void* inout, int count) {
  for (int n = 0; n < count; ++n) ((short*)inout)[n] *= ((const short*)in)[n];
}

static void reduce(int comm) {
  enum { kCount = 3000 };
  const int members = fmpl_size(comm), own = fmpl_rank(comm);
  static double sum[kCount], least[kCount], work[kCount];
  for (int n = 0; n < kCount; ++n) sum[n] = own + n, least[n] = own == members - 1 ? -0.5 : 1 + own;
  EXPECT_EQUAL(fmpl_allreduce(sum, kCount, fmpl_dsum, comm, work), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_reduce(least, kCount, fmpl_dmin, 0, comm, work), FMPL_SUCCESS);
  for (int n = 0; n < kCount; ++n) {
    EXPECT_EQUAL(sum[n], members * (members - 1) / 2 + members * n);
    if (own == 0) EXPECT_EQUAL(2 * least[n], -1);
  }
  double complex furthest = own % 2 == 0 ? own : -own * I;
  EXPECT_EQUAL(fmpl_allreduce(&furthest, 1, fmpl_zmax, comm, work), FMPL_SUCCESS);
  EXPECT_EQUAL(creal(furthest) - cimag(furthest), members - 1);
  short product = (short)(own + 1), expected = 1;
  for (int n = 1; n <= members; ++n) expected = (short)(expected * n);
  EXPECT_EQUAL(fmpl_func_set(multiply, sizeof product), FMPL_SUCCESS);
  EXPECT_EQUAL(fmpl_allreduce(&product, 1, multiply, comm, work), FMPL_SUCCESS);
  EXPECT_EQUAL(product, expected);
}

/* Rank 0 has a counter that all add to: on one node only. */
static void meet_at_barriers(int comm) {
  enum { kTimes = 200 };
  static _Atomic int arrived;
  _Atomic int* counter = &arrived;
  const int members = fmpl_size(comm);
  arrived = 0;
  EXPECT_EQUAL(fmpl_bcast(&counter, sizeof counter, 0, comm), FMPL_SUCCESS);
  for (int n = 1; n <= kTimes; ++n) {
    ++*counter;
    EXPECT_EQUAL(fmpl_barrier(comm), FMPL_SUCCESS);
    EXPECT(*counter >= n * members);
  }
  EXPECT_EQUAL(fmpl_barrier(comm), FMPL_SUCCESS);
}

static void do_without_special_support(int has_one_node) {
  int value = rank == 1 ? 77 : 0;
  EXPECT_EQUAL(fmpl_support_set(17, 0), FMPL_ERR_ARGUMENT);
  EXPECT_EQUAL(fmpl_support_set(FMPL_COMM_WORLD, 0), FMPL_SUCCESS);
  broadcast(FMPL_COMM_WORLD);
  reduce(FMPL_COMM_WORLD);
  if (has_one_node) meet_at_barriers(FMPL_COMM_WORLD);
  EXPECT_EQUAL(fmpl_hbcast(&value, sizeof value, 1), FMPL_SUCCESS);
  EXPECT_EQUAL(value, 77);
  EXPECT_EQUAL(fmpl_support_set(FMPL_COMM_WORLD, 1), FMPL_SUCCESS);
  if (has_one_node) meet_at_barriers(FMPL_COMM_WORLD);
}

static void make_communicators(void) {
  for (int n = 0; n < 50; ++n) {
    int comm;
    const int key = rank == n % size ? -1 : rank % 2;
    EXPECT_EQUAL(fmpl_comm_create(&comm, key), FMPL_SUCCESS);
    if (key < 0) {
      EXPECT_EQUAL(comm, FMPL_COMM_NULL);
      continue;
    }
    EXPECT_EQUAL(fmpl_support_set(comm, n % 3), FMPL_SUCCESS);
    broadcast(comm);
    reduce(comm);
    EXPECT_EQUAL(fmpl_comm_free(&comm), FMPL_SUCCESS);
  }
}

static void go_on_until_death(int rounds) {
  for (int n = 0;; ++n) {
    if (n == rounds && rank == size - 1) raise(SIGKILL);
    send_round(n % 2 == 0 ? kSmall : 70000);
    broadcast(FMPL_COMM_WORLD);
    reduce(FMPL_COMM_WORLD);
  }
}

/* As in an MPI program: the end is not the last one of the process's part in the job, so it waits
 * for nobody. */
static void begin_and_end_again(void) {
  EXPECT_EQUAL(nagaya_comm_init(), 0);
  for (int n = 0; n < 300; ++n) {
    EXPECT_EQUAL(fmpl_init(areas, flags, kIndexes), FMPL_SUCCESS);
    send_round(kSmall);
    EXPECT_EQUAL(fmpl_barrier(FMPL_COMM_WORLD), FMPL_SUCCESS);
    EXPECT_EQUAL(fmpl_finalize(), FMPL_SUCCESS);
  }
  EXPECT_EQUAL(nagaya_comm_finalize(), 0);
}

static void call_outside(void) {
  char nothing = 0;
  int comm = FMPL_COMM_WORLD;
  EXPECT_EQUAL(fmpl_send(&nothing, 1, 0, 0), FMPL_ERR_INIT);
  EXPECT_EQUAL(fmpl_barrier(comm), FMPL_ERR_INIT);
  EXPECT_EQUAL(fmpl_support_set(comm, 0), FMPL_ERR_INIT);
  EXPECT_EQUAL(fmpl_comm_free(&comm), FMPL_ERR_INIT);
}

static void finalize(void) {
  EXPECT_EQUAL(fmpl_finalize(), FMPL_SUCCESS);
}

int main(int argc, char** argv) {
  const int ends_at_exit = argc > 1 && strcmp(argv[1], "at_exit") == 0;
  if (ends_at_exit) atexit(finalize);
  call_outside();
  EXPECT_EQUAL(fmpl_init(areas, flags, kIndexes), FMPL_SUCCESS);
  rank = fmpl_rank(FMPL_COMM_WORLD);
  size = fmpl_size(FMPL_COMM_WORLD);
  if (ends_at_exit) return 0;
  if (argc > 2 && strcmp(argv[1], "die") == 0) go_on_until_death(atoi(argv[2]));
  if (argc > 1 && strcmp(argv[1], "leave") == 0) {
    printf("before its end\n");
    if (rank != size - 1) fmpl_barrier(FMPL_COMM_WORLD);
    return 0;
  }
  send_and_receive();
  have_many_under_way();
  send_prepared_messages(kSmall);
  send_prepared_messages(70000);
  keep_an_index();
  receive_from_whom_comes_first();
  cancel_receives();
  spool_what_nobody_awaits();
  if (argc == 1) {
    fill_the_spool();
    keep_the_order_of_an_index();
    wait_no_longer_than_told();
  }
  refuse_mistakes();
  truncate_a_message();
  broadcast(FMPL_COMM_WORLD);
  reduce(FMPL_COMM_WORLD);
  do_without_special_support(argc == 1);
  make_communicators();
  EXPECT_EQUAL(fmpl_barrier(FMPL_COMM_WORLD), FMPL_SUCCESS);
  if (rank == 0) printf("all of FMPL among %d\n", size);
  EXPECT_EQUAL(fmpl_finalize(), FMPL_SUCCESS);
  call_outside();
  begin_and_end_again();
  return 0;
}
