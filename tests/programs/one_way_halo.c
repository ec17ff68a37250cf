/* SPDX-License-Identifier: BSD-3-Clause */
/* one_way_halo.c ROUNDS - an array of nagaya/array.h whose halo goes from each process to the next
 * one only: an owner of rows learns from nothing but receipts that they have been taken. All but
 * the first process close their array after a message of the process before, which that one sends
 * when it has closed its own. Before that, arrays that are refused. */
#include <nagaya/array.h>
#include <nagaya/comm.h>
#include <nagaya/match.h>
#include <stdlib.h>

#include "expect.h"

enum { WIDTH = 4, PROCESSES_MAX = 16, STARTED = 1, CLOSED = 2 };

static nagaya_process processes[PROCESSES_MAX];
static uint32_t rank, size;

static void send(uint32_t to, int tag) {
  nagaya_send send = {.to = processes[to], .envelope = {1, (int32_t)rank, tag}};
  EXPECT_EQUAL(nagaya_match_send(&send), 0);
  while (!send.is_complete) nagaya_match_progress();
}

static void receive(uint32_t from, int tag) {
  nagaya_receive receive = {.wanted = {1, (int32_t)from, tag}, .from = processes[from]};
  EXPECT_EQUAL(nagaya_match_receive(&receive), 0);
  while (!receive.is_complete) nagaya_match_progress();
}

static int open_of(uint32_t count, uint64_t name, nagaya_array** array) {
  const int64_t extent = WIDTH * (int64_t)count;
  const nagaya_array_dimension dimension = {
      extent, 0, {0, extent - 1, WIDTH, count, NAGAYA_DISTRIBUTION_BLOCK, NULL}, 0, 1, 0};
  const nagaya_array_shape shape = {sizeof(double), 1, &dimension};
  nagaya_processes* members;
  EXPECT_EQUAL(nagaya_processes_open(processes, size, rank, &members), 0);
  const nagaya_array_grid grid = {members, 1, &count};
  const int error = nagaya_array_open(&shape, &grid, name, 0, array);
  EXPECT_EQUAL(nagaya_processes_close(members), 0);
  return error;
}

static void check_refusals(void) {
  nagaya_array* array = NULL;
  EXPECT_EQUAL(open_of(size + 1, 1, &array), -EINVAL);
  EXPECT_EQUAL(open_of(size, (uint64_t)1 << 55, &array), -EINVAL);
  EXPECT(array == NULL);
}

/* Later processes start before earlier ones, so that none but the first can be complete at once. */
static void exchange(nagaya_array* array) {
  const nagaya_array_width width = {1, 0, 0}, wide = {2, 0, 0};
  double* const rows = nagaya_array_block_of(array)->base;
  for (int i = 1; i <= WIDTH; ++i) rows[i] = WIDTH * (double)rank + i;
  EXPECT_EQUAL(nagaya_array_start_reflect(array, &wide, 0), -EINVAL);
  if (rank + 1 < size) receive(rank + 1, STARTED);
  EXPECT_EQUAL(nagaya_array_start_reflect(array, &width, 0), 0);
  if (rank > 0) {
    EXPECT_EQUAL(nagaya_array_start_reflect(array, &width, 0), -EBUSY);
    EXPECT_EQUAL(nagaya_array_close(array), -EBUSY);
    send(rank - 1, STARTED);
  }
  EXPECT_EQUAL(nagaya_array_wait_reflect(array), 0);
  EXPECT_EQUAL(rows[0], WIDTH * (double)rank);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  EXPECT_EQUAL(nagaya_comm_init(), 0);
  EXPECT_EQUAL(nagaya_match_open(0), 0);
  rank = (uint32_t)nagaya_comm_rank();
  size = (uint32_t)nagaya_comm_size();
  EXPECT(size <= PROCESSES_MAX);
  for (uint32_t n = 0; n < size; ++n) nagaya_comm_process(n, &processes[n]);
  check_refusals();
  for (int n = 1; n <= rounds; ++n) {
    nagaya_array* array;
    EXPECT_EQUAL(open_of(size, (uint64_t)n, &array), 0);
    exchange(array);
    if (rank > 0) receive(rank - 1, CLOSED);
    EXPECT_EQUAL(nagaya_array_close(array), 0);
    if (rank + 1 < size) send(rank + 1, CLOSED);
  }
  if (rank == 0) printf("%d rounds among %u\n", rounds, size);
  nagaya_comm_finalize();
  return 0;
}
