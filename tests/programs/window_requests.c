/* SPDX-License-Identifier: BSD-3-Clause */
/* window_requests.c NAGAYA OPERATION - how many requests to another node synchronisation takes.
 *
 *   exclusive, shared   lock, put, unlock      by the first task, at the last one
 *   post                post, start, put, complete, wait: the last task posts
 *   lock_all            lock_all, unlock_all, without an access; the first lock_all is not counted
 *
 * The first task prints what `NAGAYA ps` says about its node after 0 and after ROUNDS operations.
 */
#include <nagaya/comm.h>
#include <nagaya/match.h>
#include <nagaya/window.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "expect.h"

enum { ROUNDS = 50 };

static uint32_t rank, last;
static nagaya_window* window;

static void put_one(void) {
  static const uint64_t value = 1;
  const nagaya_window_buffer from = {.first = (void*)&value, .bytes = sizeof value};
  const nagaya_window_target to = {.rank = last, .place = {.bytes = sizeof value}};
  EXPECT_EQUAL(nagaya_window_put(window, &from, &to), 0);
}

static void lock_once(nagaya_window_lock_kind kind) {
  if (rank == last) return;
  EXPECT_EQUAL(nagaya_window_lock(window, kind, last, 0), 0);
  put_one();
  EXPECT_EQUAL(nagaya_window_unlock(window, last), 0);
}

static void post_once(void) {
  const uint32_t first = 0;
  if (rank == last) {
    EXPECT_EQUAL(nagaya_window_post(window, &first, 1, 0), 0);
    EXPECT_EQUAL(nagaya_window_wait(window), 0);
  } else {
    EXPECT_EQUAL(nagaya_window_start(window, &last, 1, 0), 0);
    put_one();
    EXPECT_EQUAL(nagaya_window_complete(window), 0);
  }
}

static void lock_all_once(void) {
  if (rank == last) return;
  EXPECT_EQUAL(nagaya_window_lock_all(window, 0), 0);
  EXPECT_EQUAL(nagaya_window_unlock_all(window), 0);
}

static void run(const char* operation) {
  if (strcmp(operation, "exclusive") == 0)
    lock_once(NAGAYA_WINDOW_EXCLUSIVE);
  else if (strcmp(operation, "shared") == 0)
    lock_once(NAGAYA_WINDOW_SHARED);
  else if (strcmp(operation, "post") == 0)
    post_once();
  else
    lock_all_once();
}

/* All requests are accepted by then: the barrier's messages come behind them. */
static void print_requests(const char* nagaya) {
  EXPECT_EQUAL(nagaya_comm_barrier(), 0);
  char command[4096];
  snprintf(command, sizeof command, "%s ps", nagaya);
  fflush(stdout);
  if (rank == 0) EXPECT_EQUAL(system(command), 0);
  EXPECT_EQUAL(nagaya_comm_barrier(), 0);
}

int main(int argc, char** argv) {
  EXPECT_EQUAL(nagaya_comm_init(), 0);
  EXPECT(argc == 3 && nagaya_comm_size() == 2);
  rank = (uint32_t)nagaya_comm_rank();
  last = 1;
  nagaya_process all[2];
  for (uint32_t n = 0; n < 2; ++n) EXPECT_EQUAL(nagaya_comm_process(n, &all[n]), 0);
  EXPECT_EQUAL(nagaya_match_open(0), 0);
  nagaya_processes* members;
  EXPECT_EQUAL(nagaya_processes_open(all, 2, rank, &members), 0);
  const nagaya_window_memory own = {.kind = NAGAYA_WINDOW_ALLOCATE, .bytes = 8, .unit = 1};
  EXPECT_EQUAL(nagaya_window_open(1, members, &own, 0, &window), 0);
  if (strcmp(argv[2], "lock_all") == 0) lock_all_once();
  print_requests(argv[1]);
  for (int n = 0; n < ROUNDS; ++n) run(argv[2]);
  print_requests(argv[1]);
  EXPECT_EQUAL(nagaya_window_close(window), 0);
  EXPECT_EQUAL(nagaya_processes_close(members), 0);
  EXPECT_EQUAL(nagaya_comm_barrier(), 0);
  EXPECT_EQUAL(nagaya_match_close(), 0);
  return 0;
}
