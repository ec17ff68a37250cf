/* SPDX-License-Identifier: BSD-3-Clause */
/* collective_promises.c - what coll.h promises of blocks, `store` and `complete`, by direct address
 * and by messages alike: among 3 processes or more, on one node or several. */
#include <nagaya/coll.h>
#include <nagaya/comm.h>
#include <nagaya/match.h>
#include <stdint.h>
#include <stdlib.h>

#include "expect.h"

enum { kProcessesMax = 16, kRoot = 1 };
static uint32_t rank, size;

/* ---- blocks that do not lie one behind the other ------------------------------------------- */

static void exchange_listed_blocks(nagaya_team* team) {
  uint64_t out[2 * kProcessesMax], in[kProcessesMax];
  size_t bytes[kProcessesMax];
  ptrdiff_t places[kProcessesMax];
  for (uint32_t to = 0; to < size; ++to) {
    /* The first two do. */
    const uint32_t at = to < 2 ? to : 2 * to;
    bytes[to] = sizeof *out;
    places[to] = (ptrdiff_t)(at * sizeof *out);
    out[at] = 100 * rank + to;
  }
  nagaya_collective all = {.kind = NAGAYA_ALLTOALL,
                           .send = {.base = out, .bytes_of = bytes, .offset_of = places},
                           .receive = {.base = in, .bytes = sizeof *in, .stride = sizeof *in}};
  EXPECT_EQUAL(nagaya_coll_run(team, &all), 0);
  for (uint32_t from = 0; from < size; ++from) EXPECT_EQUAL(in[from], 100 * from + rank);
}

/* ---- store --------------------------------------------------------------------------------- */

typedef struct {
  uint64_t value;
  uint32_t from, times;
} stored_t;

static void store(void* context, uint32_t from, const void* data, size_t bytes) {
  stored_t* const stored = context;
  EXPECT_EQUAL(bytes, sizeof stored->value);
  memcpy(&stored->value, data, bytes);
  stored->from = from;
  ++stored->times;
}

/* A block each, which nobody has memory for. */
static void scatter_to_stores(nagaya_team* team, uint32_t varies) {
  uint64_t out[kProcessesMax];
  stored_t stored = {0, UINT32_MAX, 0};
  for (uint32_t to = 0; to < size; ++to) out[to] = 7 * to;
  nagaya_collective parts = {.kind = NAGAYA_SCATTER,
                             .root = kRoot,
                             .varies = varies,
                             .receive = {.bytes = sizeof *out},
                             .store = store,
                             .store_context = &stored};
  if (rank == kRoot)
    parts.send = (nagaya_blocks){.base = out, .bytes = sizeof *out, .stride = sizeof *out};
  EXPECT_EQUAL(nagaya_coll_run(team, &parts), 0);
  EXPECT_EQUAL(stored.times, 1);
  EXPECT_EQUAL(stored.value, 7 * rank);
  EXPECT_EQUAL(stored.from, kRoot);
}

/* ---- complete ------------------------------------------------------------------------------ */

static uint32_t completions;
static void count_completion(nagaya_collective* collective) {
  (void)collective;
  __atomic_fetch_add(&completions, 1, __ATOMIC_RELEASE);
}

static int has_been_called(void* unused) {
  (void)unused;
  return __atomic_load_n(&completions, __ATOMIC_ACQUIRE) != 0;
}

/* A run leaves the collective as it was: started, it calls. */
static void run_then_start(nagaya_team* team) {
  nagaya_collective barrier = {.kind = NAGAYA_BARRIER, .complete = count_completion};
  completions = 0;
  EXPECT_EQUAL(nagaya_coll_run(team, &barrier), 0);
  EXPECT_EQUAL(completions, 0);
  barrier.is_complete = 0;
  EXPECT_EQUAL(nagaya_coll_start(team, &barrier), 0);
  EXPECT_EQUAL(nagaya_llcl_wait(has_been_called, NULL, 20000), 0);
}

/* -------------------------------------------------------------------------------------------- */

static void keep_promises(nagaya_team* team) {
  exchange_listed_blocks(team);
  scatter_to_stores(team, 0);
  scatter_to_stores(team, 1);
  run_then_start(team);
  EXPECT_EQUAL(nagaya_coll_wait_close(team), 0);
}

int main(void) {
  EXPECT_EQUAL(nagaya_comm_init(), 0);
  EXPECT_EQUAL(nagaya_match_open(0), 0);
  rank = (uint32_t)nagaya_comm_rank();
  size = (uint32_t)nagaya_comm_size();
  EXPECT(size >= 3 && size <= kProcessesMax);
  nagaya_process all[kProcessesMax];
  for (uint32_t n = 0; n < size; ++n) EXPECT_EQUAL(nagaya_comm_process(n, &all[n]), 0);
  nagaya_processes* members;
  EXPECT_EQUAL(nagaya_processes_open(all, size, rank, &members), 0);
  nagaya_team* team;
  EXPECT_EQUAL(nagaya_coll_open(1, members, 0, &team), 0);
  keep_promises(team);
  EXPECT_EQUAL(nagaya_coll_open_by_messages(2, members, 0, &team), 0);
  EXPECT_EQUAL(nagaya_processes_close(members), 0);
  keep_promises(team);
  EXPECT_EQUAL(nagaya_comm_barrier(), 0);
  EXPECT_EQUAL(nagaya_match_close(), 0);
  EXPECT_EQUAL(nagaya_comm_finalize(), 0);
  return 0;
}
