/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_collective_loop.c - collectives of one kind until the job is killed. Their data are checked
 * as in mpi_collectives.c; the root is rank 0.
 *
 *   mpi_collective_loop KIND [long] [later]   long: more than 8 KiB, else up to that;
 *                                             later: non-blocking, several at once
 *
 * The process of rank 3 calls itself "rank 3" once its first collectives are complete. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "collective_call.h"
#include "expect.h"

enum { kAtOnce = 3, kShortMost = 8192 };
/* In the memory of all ranks. */
static const size_t kBytesOfCall = 2 << 20;

static enum kind kind_of(const char* name) {
  enum kind kind = 0;
  while (kind < kKinds && strcmp(kind_name(kind), name) != 0) ++kind;
  EXPECT(kind < kKinds);
  return kind;
}

static bool is_long(const struct call* call) {
  const int bytes = call->operand != NULL
                        ? call->total * call->operand->layout.bytes
                        : call->count * call->base_units * call->family->unit_bytes;
  return bytes > kShortMost;
}

/* Draws until the length fits: all ranks draw the same. */
static void plan_of_length(struct call* call, bool wants_long) {
  do {
    free(call->shares);
    call->shares = NULL;
    call->seed = mixed(call->seed, 0);
    plan_call(call, kBytesOfCall);
  } while (call->kind != kBarrier && is_long(call) != wants_long);
  call->root = 0;
}

static void run_round(struct call* model, bool wants_long) {
  struct call calls[kAtOnce];
  MPI_Request requests[kAtOnce];
  for (int n = 0; n < kAtOnce; ++n) {
    calls[n] = *model;
    calls[n].number = n;
    plan_of_length(&calls[n], wants_long);
    model->seed = calls[n].seed;
    start_call(&calls[n], &requests[n]);
  }
  MPI_Waitall(kAtOnce, requests, MPI_STATUSES_IGNORE);
  for (int n = 0; n < kAtOnce; ++n) finish_call(&calls[n]);
}

int main(int argc, char** argv) {
  bool wants_long = false;
  struct call model = {.is_blocking = true, .group = {.name = "world", .comm = MPI_COMM_WORLD}};
  char name[20];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &model.group.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &model.group.size);
  model.kind = kind_of(argc > 1 ? argv[1] : "");
  for (int n = 2; n < argc; ++n) {
    wants_long |= strcmp(argv[n], "long") == 0;
    model.is_blocking &= strcmp(argv[n], "later") != 0;
  }
  make_reference();
  snprintf(name, sizeof name, "rank %d", model.group.rank);
  for (;; ++model.round) {
    run_round(&model, wants_long);
    if (model.round == 0) prctl(PR_SET_NAME, name);
  }
}
