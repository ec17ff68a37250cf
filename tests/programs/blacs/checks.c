/* SPDX-License-Identifier: BSD-3-Clause */
/* checks.c - random operations of the BLACS on random grids. Each process computes by itself what
 * has to come out, and compares all memory in and around its matrices. Knows nothing of Nagaya but
 * its count of what went directly, if there is one.
 *   blacs_checks rounds N SEED     each with up to 4 grids at once
 *   blacs_checks grids N           makes and frees N grids, whose memory must not grow
 *   blacs_checks queued N BYTES    N messages to each process before anybody receives one
 *   blacs_checks larger N          N messages into larger matrices, then long ones that cross
 *   blacs_checks unheard N         N short messages into large matrices: memory must not grow
 *   blacs_checks left N            the same, and their grids end meanwhile
 *   blacs_checks redistributions N SEED   of N matrices, by p?gemr2d and p?trmr2d
 *   blacs_checks ahead N           N broadcasts and the end of their grid, then a message, which is
 *                                  received first
 *   blacs_checks beside N          N long messages of MPI's on the way in barriers
 *   blacs_checks together N        N broadcasts, whose root comes last
 *   blacs_checks communicators N   of 4 N grids
 *   blacs_checks answers N         N long messages from 0 to 1 and back, while the others wait
 *
 * `threads` before all words: another thread sends MPI's messages all the while. `mild` behind
 * that: nothing that the reference BLACS do wrongly. */
#include <malloc.h>
#include <mpi.h>
#include <nagaya/blacs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../random_numbers.h"
#include "communicators.h"
#include "grids.h"
#include "matrix.h"
#include "operations.h"
#include "redistributions.h"

enum { kGridsMost = 4, kOperations = 12, kLatestUs = 300 };
enum { kBefore = 1000, kGrowthMost = 1 << 16 }; /* before memory is looked at; bytes */
static const size_t kBytesMost = 1 << 20, kBytesOfLong = 16 << 20;

/* ---- rounds -------------------------------------------------------------------------------- */

static void operate(const struct grid* grid, uint64_t seed, size_t bytes) {
  uint64_t random = seed;
  switch (draw(&random, 8)) {
    case 0:
      return barrier(grid, random);
    case 1:
    case 2:
      return broadcast(grid, random, bytes);
    case 3:
    case 4:
    case 5:
      return combine(grid, random, bytes);
    default:
      return exchange(grid, random, bytes);
  }
}

/* A grid of one of the ranks: all of its processes agree on it, those of others do not matter. */
static uint64_t seed_of(const struct grid* grid, uint64_t seed) {
  return mixed(seed, (uint64_t)grid->members.process[0]);
}

static int make_grids(struct grid* grids, uint64_t seed, const struct origins* origins) {
  uint64_t random = seed;
  const int count = 1 + (int)draw(&random, kGridsMost);
  for (int n = 0; n < count; ++n) {
    const bool has_parent = n > 0 && draw(&random, 3) == 0;
    const struct grid* const parent = has_parent ? &grids[draw(&random, (uint32_t)n)] : NULL;
    grids[n] = (struct grid){.context = -1, .members = {.own = -1}, .calls = grid_calls};
    if (parent != NULL && parent->members.own < 0) continue; /* it has no part in that */
    now_going_on("grid %d of %d, seed %llu", n, count, (unsigned long long)seed);
    uint64_t own = mixed(seed, (uint64_t)n);
    if (parent != NULL) own = seed_of(parent, own);
    make_grid(&grids[n], own, origins, parent);
    check_grid(&grids[n]);
  }
  return count;
}

static void free_grids(struct grid* grids, int count, uint64_t seed) {
  uint64_t random = seed;
  while (count > 0) {
    const uint32_t n = draw(&random, (uint32_t)count);
    free_grid(&grids[n]);
    grids[n] = grids[--count];
  }
}

static void run_round(uint64_t seed, const struct origins* origins) {
  struct grid grids[kGridsMost];
  uint64_t random = mixed(seed, 1), choices = mixed(seed, 100 + (uint64_t)origins->all.own);
  const int count = make_grids(grids, mixed(seed, 0), origins);
  for (int n = 0; n < kOperations; ++n) {
    const struct grid* const grid = &grids[draw(&random, (uint32_t)count)];
    const size_t bytes = draw(&random, 100) == 0 ? kBytesOfLong : kBytesMost >> draw(&random, 10);
    if (draw(&choices, 10) == 0) usleep(draw(&choices, kLatestUs));
    const bool changes_settings = draw(&random, 20) == 0;
    if (grid->members.own < 0) continue;
    if (changes_settings) change_settings(grid, mixed(seed, 2));
    operate(grid, seed_of(grid, mixed(seed, 3 + (uint64_t)n)), bytes);
  }
  free_grids(grids, count, mixed(seed, 2));
}

static void run_rounds(int rounds, uint64_t seed) {
  struct origins origins;
  make_origins(&origins);
  for (int n = 0; n < rounds; ++n) run_round(mixed(seed, (uint64_t)n), &origins);
  free_origins(&origins);
}

/* ---- many grids ---------------------------------------------------------------------------- */

static void expect_no_growth(int count, size_t before, const char* what) {
  const size_t after = mallinfo2().uordblks;
  if (count > kBefore && after > before + kGrowthMost)
    fail("%d %s have grown by %zu bytes", count - kBefore, what, after - before);
}

/* Each is used, so that it has all that a grid may have. */
static void run_grids(int count, int processes) {
  size_t before = 0;
  for (int n = 0; n < count; ++n) {
    const int rows = processes % 2 == 0 && n % 2 == 0 ? 2 : 1;
    const int context = grid_of_all(rows, processes / rows);
    double item = 1;
    matrix_calls[0][2].gsum2d(context, "All", " ", 1, 1, &item, 1, -1, -1);
    if ((int)item != processes) fail("a sum in grid %d", n);
    grid_calls[0].gridexit(context);
    if (n == kBefore) before = mallinfo2().uordblks;
  }
  expect_no_growth(count, before, "grids");
}

/* ---- messages that wait for their receivers ------------------------------------------------ */

static double* number_all(double* items, size_t count, int first) {
  for (size_t n = 0; n < count; ++n) items[n] = first + (double)n;
  return items;
}

static void run_queued(int count, size_t bytes, int processes, int own) {
  const int context = grid_of_all(1, processes), items = (int)(bytes / sizeof(double));
  double* const matrix = malloc(bytes);
  double* const wanted = malloc(bytes);
  for (int n = 0; n < count; ++n)
    for (int to = 0; to < processes; ++to)
      matrix_calls[0][2].gesd2d(context, items, 1, number_all(matrix, (size_t)items, own + n),
                                items, 0, to);
  grid_calls[0].barrier(context, "All");
  for (int from = 0; from < processes; ++from)
    for (int n = 0; n < count; ++n) {
      matrix_calls[0][2].gerv2d(context, items, 1, matrix, items, 0, from);
      number_all(wanted, (size_t)items, from + n);
      if (memcmp(matrix, wanted, bytes) != 0) fail("message %d of %d", n, from);
    }
  free(matrix);
  free(wanted);
  grid_calls[0].gridexit(context);
}

/* ---- larger matrices than messages --------------------------------------------------------- */

enum { kItemsOfLarger = 50000 };

static void run_larger(int count, int processes, int own) {
  const int context = grid_of_all(1, processes);
  const int to = (own + 1) % processes, from = (own + processes - 1) % processes;
  double* const items = calloc(kItemsOfLarger, sizeof *items);
  for (int n = 0; n < count; ++n) {
    items[0] = own + n;
    items[1] = -1;
    matrix_calls[0][2].gesd2d(context, 1, 1, items, 1, 0, to);
    matrix_calls[0][2].gerv2d(context, kItemsOfLarger, 1, items, kItemsOfLarger, 0, from);
    if ((int)items[0] != from + n || (int)items[1] != -1) fail("short message %d", n);
  }
  for (int n = 0; n < count; ++n)
    matrix_calls[0][2].gesd2d(context, kItemsOfLarger, 1,
                              number_all(items, kItemsOfLarger, own + n), kItemsOfLarger, 0, to);
  for (int n = 0; n < count; ++n) {
    matrix_calls[0][2].gerv2d(context, kItemsOfLarger, 1, items, kItemsOfLarger, 0, from);
    if ((int)items[1] != from + n + 1) fail("long message %d", n);
  }
  free(items);
  grid_calls[0].gridexit(context);
}

/* Each receiver says that it is ready for a long message, and gets a short one. */
static void run_unheard(int count, int processes, int own) {
  const int context = grid_of_all(1, processes);
  const int to = (own + 1) % processes, from = (own + processes - 1) % processes;
  double* const items = calloc(kItemsOfLarger, sizeof *items);
  size_t before = 0;
  for (int n = 0; n < count; ++n) {
    matrix_calls[0][2].gesd2d(context, 1, 1, items, 1, 0, to);
    matrix_calls[0][2].gerv2d(context, kItemsOfLarger, 1, items, kItemsOfLarger, 0, from);
    if (n == kBefore) before = mallinfo2().uordblks;
  }
  expect_no_growth(count, before, "messages");
  free(items);
  grid_calls[0].gridexit(context);
}

/* Sends as run_unheard(), but the sender's grid ends before it has heard that the receiver is
 * ready.
 */
static void run_left(int count, int processes, int own) {
  double* const items = calloc(kItemsOfLarger, sizeof *items);
  size_t before = 0;
  for (int n = 0; n < count; ++n) {
    const int context = grid_of_all(1, processes);
    if (own == 0) matrix_calls[0][2].gesd2d(context, 1, 1, items, 1, 0, 1);
    if (own == 1)
      matrix_calls[0][2].gerv2d(context, kItemsOfLarger, 1, items, kItemsOfLarger, 0, 0);
    grid_calls[0].gridexit(context);
    if (n == kBefore) before = mallinfo2().uordblks;
  }
  expect_no_growth(count, before, "messages");
  free(items);
}

/* A function of libnagaya-blacs; NULL if the program is not loaded with it. */
#pragma weak blacs_count_sends

static blacs_sends count_sends(void) {
  blacs_sends sends = {0};
  if (blacs_count_sends != NULL) blacs_count_sends(&sends);
  return sends;
}

/* ---- broadcasts that wait for their receivers ---------------------------------------------- */

enum { kRowsAhead = 30, kColumnsAhead = 40, kLdaAhead = 33 };

/* Short and long ones by turns, whose matrices change as soon as they are sent. */
static void run_ahead(int count, int processes, int own) {
  const int context = grid_of_all(1, processes), other = grid_of_all(1, processes);
  static double block[kLdaAhead * kColumnsAhead];
  double item = -1, *const last = &block[kLdaAhead * (kColumnsAhead - 1) + kRowsAhead - 1];
  for (int n = 0; n < count && own == 0; ++n) {
    item = block[0] = *last = n;
    if (n % 2 == 0)
      matrix_calls[0][2].gebs2d(context, "All", " ", 1, 1, &item, 1);
    else
      matrix_calls[0][2].gebs2d(context, "All", " ", kRowsAhead, kColumnsAhead, block, kLdaAhead);
  }
  if (own == 0) grid_calls[0].gridexit(context);
  for (int to = 1; to < processes && own == 0; ++to)
    matrix_calls[0][2].gesd2d(other, 1, 1, &item, 1, 0, to);
  if (own != 0) matrix_calls[0][2].gerv2d(other, 1, 1, &item, 1, 0, 0);
  if ((int)item != count - 1) fail("the message after the broadcasts");
  for (int n = 0; n < count && own != 0; ++n) {
    if (n % 2 == 0)
      matrix_calls[0][2].gebr2d(context, "All", " ", 1, 1, &item, 1, 0, 0);
    else
      matrix_calls[0][2].gebr2d(context, "All", " ", kRowsAhead, kColumnsAhead, block, kLdaAhead, 0,
                                0);
    if ((int)(n % 2 == 0 ? item : block[0]) != n || (n % 2 != 0 && (int)*last != n))
      fail("broadcast %d", n);
  }
  if (own != 0) grid_calls[0].gridexit(context);
  grid_of_all(1, processes); /* where the root has been all the while */
  if (own == 0) printf("%llu copied\n", (unsigned long long)count_sends().broadcasts_copied);
}

/* Their receiver comes to the barrier when it has them. */
static void run_beside(int count, int processes, int own) {
  const int context = grid_of_all(1, processes);
  static char data[16 << 20];
  for (int n = 0; n < count; ++n) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (own == 0) MPI_Isend(data, sizeof data, MPI_CHAR, 1, n, MPI_COMM_WORLD, &request);
    if (own == 1) MPI_Recv(data, sizeof data, MPI_CHAR, 0, n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    grid_calls[0].barrier(context, "All");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

enum { kLatestRootUs = 5000, kSideTogether = 1000, kLdaTogether = 1003 };

static void run_together(int count, int processes, int own) {
  const int context = grid_of_all(1, processes);
  static double block[kLdaTogether * kSideTogether];
  double* const last = &block[kLdaTogether * (kSideTogether - 1) + kSideTogether - 1];
  for (int n = 0; n < count; ++n) {
    grid_calls[0].barrier(context, "All");
    if (own == 0) {
      usleep(kLatestRootUs);
      block[0] = *last = n;
      matrix_calls[0][2].gebs2d(context, "All", " ", kSideTogether, kSideTogether, block,
                                kLdaTogether);
    } else {
      matrix_calls[0][2].gebr2d(context, "All", " ", kSideTogether, kSideTogether, block,
                                kLdaTogether, 0, 0);
      if ((int)block[0] != n || (int)*last != n) fail("broadcast %d", n);
    }
  }
  if (own == 0)
    printf("%llu of %d direct\n", (unsigned long long)count_sends().broadcasts_direct, count);
}

/* ---- long messages there and back ---------------------------------------------------------- */

static void run_answers(int count, int processes, int own) {
  const int context = grid_of_all(1, processes);
  double* const items = calloc(kItemsOfLarger, sizeof *items);
  for (int n = 0; n < 2 * count && own < 2; ++n)
    if (n % 2 == own)
      matrix_calls[0][2].gesd2d(context, kItemsOfLarger, 1, items, kItemsOfLarger, 0, 1 - own);
    else
      matrix_calls[0][2].gerv2d(context, kItemsOfLarger, 1, items, kItemsOfLarger, 0, 1 - own);
  grid_calls[0].barrier(context, "All");
  int copies = (int)count_sends().copied;
  matrix_calls[0][0].gsum2d(context, "All", " ", 1, 1, &copies, 1, -1, -1);
  if (own == 0) printf("%d copied\n", copies);
  free(items);
  grid_calls[0].gridexit(context);
}

/* ---- redistributions ----------------------------------------------------------------------- */

static void run_redistributions(int count, uint64_t seed, int processes, int own) {
  const int context = grid_of_all(1, processes);
  int with_items = 0;
  for (int n = 0; n < count; ++n)
    with_items += redistribute(mixed(seed, (uint64_t)n), context, processes);
  if (own == 0)
    printf("%llu of %d direct\n", (unsigned long long)count_sends().redistributions_direct,
           with_items);
}

/* ---- messages of another thread ------------------------------------------------------------ */

enum { kBytesOfThread = 20000 };
static MPI_Comm comm_of_thread;

/* Until all say that it is enough. */
static void* send_in_a_ring(void* is_enough) {
  int own, processes, all = 0;
  static char out[kBytesOfThread], in[kBytesOfThread];
  MPI_Comm_rank(comm_of_thread, &own);
  MPI_Comm_size(comm_of_thread, &processes);
  for (uint32_t n = 0; all < processes; ++n) {
    const int bytes = (int)(n * 37 % kBytesOfThread);
    MPI_Sendrecv(out, bytes, MPI_CHAR, (own + 1) % processes, 0, in, bytes, MPI_CHAR,
                 (own + processes - 1) % processes, 0, comm_of_thread, MPI_STATUS_IGNORE);
    const int is_over = atomic_load((atomic_int*)is_enough);
    MPI_Allreduce(&is_over, &all, 1, MPI_INT, MPI_SUM, comm_of_thread);
  }
  return NULL;
}

static void run_beside_thread(int rounds, uint64_t seed) {
  static atomic_int is_enough;
  pthread_t thread;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm_of_thread);
  if (pthread_create(&thread, NULL, send_in_a_ring, &is_enough) != 0) fail("no thread");
  run_rounds(rounds, seed);
  atomic_store(&is_enough, 1);
  pthread_join(thread, NULL);
  MPI_Comm_free(&comm_of_thread);
}

int main(int argc, char** argv) {
  int own, processes, level;
  const bool has_thread = argc > 1 && strcmp(argv[1], "threads") == 0;
  if (has_thread) MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  argc -= has_thread, argv += has_thread;
  Cblacs_pinfo(&own, &processes);
  is_mild = argc > 1 && strcmp(argv[1], "mild") == 0;
  argc -= is_mild, argv += is_mild;
  if (argc < 3) fail("see the file's head");
  const int count = atoi(argv[2]);
  const uint64_t seed = argc > 3 ? (uint64_t)atoi(argv[3]) : 1;
  if (strcmp(argv[1], "rounds") == 0)
    has_thread ? run_beside_thread(count, seed) : run_rounds(count, seed);
  else if (strcmp(argv[1], "grids") == 0)
    run_grids(count, processes);
  else if (strcmp(argv[1], "larger") == 0)
    run_larger(count, processes, own);
  else if (strcmp(argv[1], "unheard") == 0)
    run_unheard(count, processes, own);
  else if (strcmp(argv[1], "left") == 0)
    run_left(count, processes, own);
  else if (strcmp(argv[1], "redistributions") == 0)
    run_redistributions(count, seed, processes, own);
  else if (strcmp(argv[1], "ahead") == 0)
    run_ahead(count, processes, own);
  else if (strcmp(argv[1], "beside") == 0)
    run_beside(count, processes, own);
  else if (strcmp(argv[1], "together") == 0)
    run_together(count, processes, own);
  else if (strcmp(argv[1], "communicators") == 0)
    run_communicators(count, processes, own);
  else if (strcmp(argv[1], "answers") == 0)
    run_answers(count, processes, own);
  else
    run_queued(count, argc > 3 ? (size_t)atoi(argv[3]) : 1 << 20, processes, own);
  if (own == 0) printf("%d %s among %d\n", count, argv[1], processes);
  Cblacs_exit(0);
  return 0;
}
