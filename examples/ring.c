/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.c - processes on any number of nodes, each of which writes into its right neighbour's
 * memory, counts itself in at rank 0, and is called by its left neighbour.
 *
 *   cc -fPIE -pie ring.c -o ring $(pkg-config --cflags --libs nagaya)
 *   nagaya run -n 4 ./ring
 *   nagaya run --hosts a,b -n 4 ./ring
 */
#include <errno.h>
#include <nagaya/comm.h>
#include <nagaya/task.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define VALUES 1000

static int64_t from_left[VALUES]; /* the left neighbour writes here */
static uint64_t present;          /* at rank 0: number of ranks that have added themselves */
static uint32_t called_by;        /* rank + 1 of the sender of the last message */

static void check(int error, const char* what) {
  if (error == 0) return;
  fprintf(stderr, "%s: %s (%s)\n", what, nagaya_strerror(error), nagaya_error_text());
  exit(1);
}

static void hear(void* context, nagaya_process source, const void* data, size_t bytes) {
  (void)context, (void)source, (void)bytes;
  __atomic_store_n(&called_by, *(const uint32_t*)data + 1, __ATOMIC_RELEASE);
}

/* Repeats a request while there is no room for it. The receiver may need this processor. */
#define UNTIL_ACCEPTED(call)                           \
  do {                                                 \
    int error;                                         \
    while ((error = (call)) == -EAGAIN) sched_yield(); \
    check(error, #call);                               \
  } while (0)

int main(void) {
  check(nagaya_comm_init(), "nagaya_comm_init");
  const int64_t rank = nagaya_comm_rank(), size = nagaya_comm_size();
  const int64_t right = (rank + 1) % size, left = (rank + size - 1) % size;

  /* Each process gets the places of all processes' memory. */
  nagaya_remote own[2], (*all)[2] = calloc((size_t)size, sizeof own);
  check(nagaya_llcl_register(from_left, sizeof from_left, &own[0]), "register");
  check(nagaya_llcl_register(&present, sizeof present, &own[1]), "register");
  check(nagaya_llcl_handle(7, hear, NULL), "handle");
  check(nagaya_comm_allgather(own, sizeof own, all), "allgather");

  int64_t values[VALUES];
  for (int n = 0; n < VALUES; ++n) values[n] = rank * VALUES + n;
  uint64_t done = 0;
  nagaya_llcl_transfer put = {all[right][0], values, sizeof values, nagaya_counter(&done)};
  UNTIL_ACCEPTED(nagaya_llcl_try_write(&put));

  nagaya_llcl_atomic count = {.remote = all[0][1],
                              .operation = NAGAYA_ADD,
                              .type = NAGAYA_UINT64,
                              .operand = 1,
                              .on_complete = nagaya_counter(&done)};
  UNTIL_ACCEPTED(nagaya_llcl_try_atomic(&count));

  const uint32_t name = (uint32_t)rank;
  nagaya_process neighbour;
  check(nagaya_comm_process(right, &neighbour), "process");
  UNTIL_ACCEPTED(nagaya_llcl_try_message(neighbour, 7, &name, sizeof name, nagaya_counter(&done)));

  check(nagaya_llcl_wait_counter(&done, 3, 10000), "wait");
  check(nagaya_llcl_wait_flag(&called_by, 10000), "wait for the left neighbour");
  check(nagaya_comm_barrier(), "barrier");

  int wrong = called_by != (uint32_t)left + 1;
  for (int n = 0; n < VALUES; ++n) wrong += from_left[n] != left * VALUES + n;
  if (rank == 0) {
    wrong += present != (uint64_t)size;
    printf("%lld processes on %lld nodes, %llu counted\n", (long long)size,
           (long long)nagaya_comm_nodes(), (unsigned long long)present);
  }
  if (wrong != 0) fprintf(stderr, "rank %lld: %d values are wrong\n", (long long)rank, wrong);
  check(nagaya_comm_finalize(), "nagaya_comm_finalize");
  free(all);
  return wrong != 0;
}
