/* SPDX-License-Identifier: BSD-3-Clause */
/* checkpoint.c - processes that compute, and whose state the host writes to a file meanwhile. Started
 * again, they go on from the last checkpoint.
 *
 *   cc -fPIE -pie checkpoint.c -o checkpoint $(pkg-config --cflags --libs nagaya)
 *   nagaya run -n 4 ./checkpoint
 *   nagaya run -n 4 ./checkpoint       # from where it was
 */
#include <errno.h>
#include <nagaya/checkpoint.h>
#include <nagaya/comm.h>
#include <nagaya/task.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS 100000
#define STEPS 5

static struct {
  int64_t steps;
  double cells[CELLS];
} state, saved; /* `saved` stays as it is while the host writes it */

static void check(int error, const char* what) {
  if (error == 0) return;
  fprintf(stderr, "%s: %s\n", what, nagaya_strerror(error));
  exit(1);
}

static nagaya_processes* all_processes(void) {
  const int64_t size = nagaya_comm_size();
  nagaya_process* const list = malloc((size_t)size * sizeof *list);
  for (int64_t rank = 0; rank < size; ++rank)
    check(nagaya_comm_process(rank, &list[rank]), "process");
  nagaya_processes* members;
  check(nagaya_processes_open(list, (uint32_t)size, (uint32_t)nagaya_comm_rank(), &members), "members");
  free(list);
  return members;
}

static void compute(void) {
  for (int n = 0; n < CELLS; ++n) state.cells[n] += 1;
  ++state.steps;
}

int main(void) {
  check(nagaya_comm_init(), "nagaya_comm_init");
  nagaya_processes* const members = all_processes();
  nagaya_checkpoint* checkpoint;
  check(nagaya_checkpoint_open(0, members, NAGAYA_CHECKPOINT_SHARED, &checkpoint), "open");

  const nagaya_checkpoint_piece own = {&state, sizeof state};
  const int error = nagaya_checkpoint_read(checkpoint, "state", &own, 1);
  if (error != -ENOENT) check(error, "read");
  const int64_t first = state.steps;

  const nagaya_checkpoint_piece copy = {&saved, sizeof saved};
  for (int step = 0; step < STEPS; ++step) {
    check(nagaya_checkpoint_wait(checkpoint), "wait"); /* the last one is complete */
    memcpy(&saved, &state, sizeof state);
    check(nagaya_checkpoint_write(checkpoint, "state", &copy, 1), "write");
    compute();
  }
  check(nagaya_checkpoint_wait(checkpoint), "wait");

  int wrong = 0;
  for (int n = 0; n < CELLS; ++n) wrong += state.cells[n] != (double)state.steps;
  if (nagaya_comm_rank() == 0)
    printf("steps %lld to %lld\n", (long long)first, (long long)state.steps);
  check(nagaya_checkpoint_close(checkpoint), "close");
  check(nagaya_processes_close(members), "close");
  check(nagaya_comm_finalize(), "nagaya_comm_finalize");
  return wrong != 0;
}
