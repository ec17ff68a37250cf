/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_intercommunicators.c - collectives between two groups, held against what each rank must get.
 *
 *   mpi_intercommunicators random ROUNDS    random groups of the world
 *                          spawn ROUNDS     the world and a job of two that it spawns
 *                          accept ROUNDS    rank 0 and all others, which connect */
#include <mpi.h>

#include <mpi-ext.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "random_numbers.h"

#if OMPI_MAJOR_VERSION < 5 /* which has them as an extension */
#define MPI_Bcast_init MPIX_Bcast_init
#endif

enum kind {
  kBarrier,
  kBcast,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduce,
  kAllreduce,
  kKinds
};
enum shape { kPlain, kStrided, kBackwards, kShapes }; /* how a unit lies in memory */
enum { kCallsMost = 5, kUnitBytes = 4, kUnitsMost = 3000, kRanksMost = 64, kTag = 7 };

static MPI_Datatype types[kShapes]; /* of a unit */
static const int kExtents[kShapes] = {kUnitBytes, 2 * kUnitBytes, 2 * kUnitBytes};

/* Group 0 and group 1; the caller is in `own`. */
struct groups {
  MPI_Comm comm;
  int own, rank, size[2];
};

/* A block for, or of, each rank of the other group. */
struct side {
  enum shape shape;
  unsigned char* memory;
  size_t bytes;
  int counts[kRanksMost], places[kRanksMost]; /* units; in bytes for alltoallw */
  MPI_Datatype types[kRanksMost];
};

struct call {
  enum kind kind;
  uint64_t seed;
  int sending_group; /* of the rooted ones: the group whose data go */
  int root;          /* of the rooted ones: the root's rank in its own group */
  int units[2];      /* of a block that a rank of that group sends, at most */
  struct side from, to;
};

static void make_types(void) {
  MPI_Datatype type;
  MPI_Type_contiguous(kUnitBytes, MPI_BYTE, &types[kPlain]);
  MPI_Type_vector(kUnitBytes, 1, 2, MPI_BYTE, &type);
  MPI_Type_create_resized(type, 0, kExtents[kStrided], &types[kStrided]);
  MPI_Type_free(&type);
  MPI_Type_indexed(kUnitBytes, (int[]){1, 1, 1, 1}, (int[]){6, 4, 2, 0}, MPI_BYTE, &type);
  MPI_Type_create_resized(type, 0, kExtents[kBackwards], &types[kBackwards]);
  MPI_Type_free(&type);
  for (int n = 0; n < kShapes; ++n) MPI_Type_commit(&types[n]);
}

/* ---- the sender and the receivers of each block -------------------------------------------- */

static bool is_rooted(enum kind kind) {
  return (kind >= kBcast && kind <= kScatterv) || kind == kReduce;
}
static bool is_root_sender(enum kind kind) {
  return kind == kBcast || kind == kScatter || kind == kScatterv;
}
static bool is_varied(enum kind kind) {
  return kind == kGatherv || kind == kScatterv || kind == kAllgatherv || kind == kAlltoallv ||
         kind == kAlltoallw;
}
static bool has_block_for_each(enum kind kind) {
  return kind == kScatter || kind == kScatterv || (kind >= kAlltoall && kind <= kAlltoallw);
}

static bool is_root(const struct call* call, const struct groups* groups) {
  const int group = is_root_sender(call->kind) ? call->sending_group : !call->sending_group;
  return is_rooted(call->kind) && groups->own == group && groups->rank == call->root;
}

/* Whether that rank of `group` sends anything to those of the other one. */
static bool sends(const struct call* call, int group, int rank) {
  if (call->kind == kBarrier) return false;
  if (!is_rooted(call->kind)) return true;
  return group == call->sending_group && (!is_root_sender(call->kind) || rank == call->root);
}
static bool receives(const struct call* call, int group, int rank) {
  if (call->kind == kBarrier) return false;
  if (!is_rooted(call->kind)) return true;
  return group != call->sending_group && (is_root_sender(call->kind) || rank == call->root);
}

static uint64_t seed_of(const struct call* call, int group, int sender, int receiver) {
  if (!has_block_for_each(call->kind)) receiver = 0;
  return mixed(call->seed + (uint64_t)group, (uint64_t)(sender * kRanksMost + receiver));
}
static int units_of(const struct call* call, int group, int sender, int receiver) {
  if (!is_varied(call->kind)) return call->units[group];
  uint64_t random = seed_of(call, group, sender, receiver);
  return (int)draw(&random, (uint32_t)call->units[group] + 1);
}

/* ---- buffers ------------------------------------------------------------------------------- */

static void put_block(const struct side* side, unsigned char* memory, int place, uint64_t seed,
                      int units) {
  unsigned char* const packed = malloc((size_t)(units + 1) * kUnitBytes);
  fill(seed, packed, (size_t)units * kUnitBytes);
  for (int n = 0; n < units * kUnitBytes; ++n) {
    const int unit = place + n / kUnitBytes, k = n % kUnitBytes;
    const int in_unit = side->shape == kPlain     ? k
                        : side->shape == kStrided ? 2 * k
                                                  : 2 * (kUnitBytes - 1 - k);
    memory[unit * kExtents[side->shape] + in_unit] = packed[n];
  }
  free(packed);
}

static void make_side(const struct call* call, const struct groups* groups, struct side* side,
                      bool is_receive) {
  const int other = groups->size[!groups->own];
  int place = 0;
  for (int n = 0; n < other; ++n) {
    side->counts[n] = is_receive ? units_of(call, !groups->own, n, groups->rank)
                                 : units_of(call, groups->own, groups->rank, n);
    side->places[n] = place * (call->kind == kAlltoallw ? kExtents[side->shape] : 1);
    side->types[n] = types[side->shape];
    const bool is_same = !is_receive && !has_block_for_each(call->kind);
    if (!is_same || n == 0) place += side->counts[n];
  }
  side->bytes = (size_t)(place + 1) * (size_t)kExtents[side->shape];
  side->memory = malloc(side->bytes);
  memset(side->memory, 0xee, side->bytes);
}

/* Into `memory`, which is side->memory or as large. */
static void put_blocks(const struct call* call, const struct groups* groups,
                       const struct side* side, unsigned char* memory, bool is_receive) {
  const int other = groups->size[!groups->own];
  for (int n = 0, place = 0; n < other; place += side->counts[n++]) {
    const int from = is_receive ? !groups->own : groups->own;
    const int sender = is_receive ? n : groups->rank, receiver = is_receive ? groups->rank : n;
    const bool is_same = !is_receive && !has_block_for_each(call->kind);
    if (!sends(call, from, sender) || (is_same && n > 0)) continue;
    const bool is_single = is_receive && is_root_sender(call->kind);
    put_block(side, memory, is_single ? 0 : place, seed_of(call, from, sender, receiver),
              side->counts[n]);
  }
}

/* Sums modulo 2^32 of the other group's units. */
static void put_sums(const struct call* call, const struct groups* groups, unsigned char* memory) {
  const int units = call->units[!groups->own];
  uint32_t* const one = malloc((size_t)(units + 1) * sizeof *one);
  uint32_t* const sums = calloc((size_t)units + 1, sizeof *sums);
  for (int n = 0; n < groups->size[!groups->own]; ++n) {
    fill(seed_of(call, !groups->own, n, 0), (unsigned char*)one, (size_t)units * sizeof *one);
    for (int k = 0; k < units; ++k) sums[k] += one[k];
  }
  memcpy(memory, sums, (size_t)units * sizeof *sums);
  free(sums);
  free(one);
}

static void check(struct call* call, const struct groups* groups) {
  struct side* const to = &call->to;
  unsigned char* const expected = malloc(to->bytes);
  memset(expected, 0xee, to->bytes);
  if (receives(call, groups->own, groups->rank)) {
    if (call->kind >= kReduce)
      put_sums(call, groups, expected);
    else
      put_blocks(call, groups, to, expected, true);
  }
  for (size_t n = 0; n < to->bytes; ++n)
    if (to->memory[n] != expected[n]) {
      fprintf(stderr,
              "kind %d, root %d: byte %zu of %zu at rank %d of group %d (%d and %d ranks)\n",
              call->kind, call->root, n, to->bytes, groups->rank, groups->own, groups->size[0],
              groups->size[1]);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  free(expected);
  free(to->memory);
  free(call->from.memory);
}

/* ---- calls --------------------------------------------------------------------------------- */

/* Draws the call: all ranks draw the same, but for the shapes, which each rank chooses. */
static void plan(struct call* call, const struct groups* groups, uint64_t seed) {
  uint64_t random = seed, own = mixed(seed, (uint64_t)(groups->own * kRanksMost + groups->rank));
  call->seed = mixed(seed, 1000);
  call->kind = draw(&random, kKinds);
  call->sending_group = (int)draw(&random, 2);
  const int group = is_root_sender(call->kind) ? call->sending_group : !call->sending_group;
  call->root = (int)draw(&random, (uint32_t)groups->size[group]);
  for (int n = 0; n < 2; ++n)
    call->units[n] = (int)draw(&random, draw(&random, 2) == 0 ? 20 : kUnitsMost) + 1;
  if (call->kind == kAllreduce) call->units[1] = call->units[0];
  const bool is_reduction = call->kind >= kReduce;
  call->from.shape = is_reduction ? kPlain : draw(&own, kShapes);
  call->to.shape = is_reduction ? kPlain : draw(&own, kShapes);
  make_side(call, groups, &call->from, false);
  make_side(call, groups, &call->to, true);
  put_blocks(call, groups, &call->from, call->from.memory, false);
}

#define RUN(blocking, other, ...)                      \
  do {                                                 \
    if (request != NULL)                               \
      MPI_##other(__VA_ARGS__, groups->comm, request); \
    else                                               \
      MPI_##blocking(__VA_ARGS__, groups->comm);       \
  } while (0)

static void run(struct call* call, const struct groups* groups, MPI_Request* request) {
  struct side *const from = &call->from, *const to = &call->to;
  void *const out = from->memory, *const in = to->memory;
  const MPI_Datatype out_type = types[from->shape], in_type = types[to->shape];
  const int out_count = call->units[groups->own], in_count = call->units[!groups->own];
  const int group = is_root_sender(call->kind) ? call->sending_group : !call->sending_group;
  int root = call->root;
  if (groups->own == group) root = is_root(call, groups) ? MPI_ROOT : MPI_PROC_NULL;
  switch (call->kind) {
    case kBarrier:
      if (request != NULL)
        MPI_Ibarrier(groups->comm, request);
      else
        MPI_Barrier(groups->comm);
      break;
    case kBcast:
      if (root == MPI_ROOT)
        RUN(Bcast, Ibcast, out, out_count, out_type, root);
      else
        RUN(Bcast, Ibcast, in, in_count, in_type, root);
      break;
    case kGather:
      RUN(Gather, Igather, out, out_count, out_type, in, in_count, in_type, root);
      break;
    case kGatherv:
      RUN(Gatherv, Igatherv, out, from->counts[0], out_type, in, to->counts, to->places, in_type,
          root);
      break;
    case kScatter:
      RUN(Scatter, Iscatter, out, out_count, out_type, in, in_count, in_type, root);
      break;
    case kScatterv: {
      const int received = sends(call, !groups->own, call->root) ? to->counts[call->root] : 0;
      RUN(Scatterv, Iscatterv, out, from->counts, from->places, out_type, in, received, in_type,
          root);
      break;
    }
    case kAllgather:
      RUN(Allgather, Iallgather, out, out_count, out_type, in, in_count, in_type);
      break;
    case kAllgatherv:
      RUN(Allgatherv, Iallgatherv, out, from->counts[0], out_type, in, to->counts, to->places,
          in_type);
      break;
    case kAlltoall:
      RUN(Alltoall, Ialltoall, out, out_count, out_type, in, in_count, in_type);
      break;
    case kAlltoallv:
      RUN(Alltoallv, Ialltoallv, out, from->counts, from->places, out_type, in, to->counts,
          to->places, in_type);
      break;
    case kAlltoallw:
      RUN(Alltoallw, Ialltoallw, out, from->counts, from->places, from->types, in, to->counts,
          to->places, to->types);
      break;
    case kReduce:
      RUN(Reduce, Ireduce, out, in, call->units[call->sending_group], MPI_UINT32_T, MPI_SUM, root);
      break;
    default:
      RUN(Allreduce, Iallreduce, out, in, out_count, MPI_UINT32_T, MPI_SUM);
  }
}

/* Some at once. */
static void run_round(const struct groups* groups, uint64_t seed) {
  static struct call calls[kCallsMost];
  MPI_Request requests[kCallsMost];
  const int count = 1 + (int)draw(&seed, kCallsMost);
  for (int n = 0; n < count; ++n) {
    const bool is_blocking = draw(&seed, 2) == 0;
    requests[n] = MPI_REQUEST_NULL;
    plan(&calls[n], groups, mixed(seed, (uint64_t)n));
    run(&calls[n], groups, is_blocking ? NULL : &requests[n]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int n = 0; n < count; ++n) check(&calls[n], groups);
}

/* From the last rank of group 1. */
static void repeat_bcast(const struct groups* groups) {
  const bool is_sender = groups->own == 1, is_sending = groups->rank == groups->size[1] - 1;
  int root = groups->size[1] - 1, value;
  if (is_sender) root = is_sending ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Request request;
  MPI_Bcast_init(&value, 1, MPI_INT, root, groups->comm, MPI_INFO_NULL, &request);
  for (int round = 0; round < 3; ++round) {
    value = root == MPI_ROOT ? 100 + round : -1;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQUAL(value, root == MPI_PROC_NULL ? -1 : 100 + round);
  }
  MPI_Request_free(&request);
}

static void run_rounds(MPI_Comm comm, int own, int rounds, uint64_t seed) {
  struct groups groups = {.comm = comm, .own = own};
  MPI_Comm_rank(comm, &groups.rank);
  MPI_Comm_size(comm, &groups.size[own]);
  MPI_Comm_remote_size(comm, &groups.size[!own]);
  for (int round = 0; round < rounds; ++round) run_round(&groups, mixed(seed, (uint64_t)round));
  repeat_bcast(&groups);
}

/* ---- groups -------------------------------------------------------------------------------- */

static void expect_merged(MPI_Comm comm, int high, int size) {
  MPI_Comm merged;
  int one = 1, sum;
  MPI_Intercomm_merge(comm, high, &merged);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged);
  EXPECT_EQUAL(sum, size);
  MPI_Comm_free(&merged);
}

/* Some ranks of the world, in any order; some others. Perhaps some are in no group. */
static void use_random_groups(int rank, int size, uint64_t seed) {
  int order[kRanksMost], place = -1;
  for (int n = 0; n < size; ++n) order[n] = n;
  for (int n = size - 1; n > 0; --n) {
    const int k = (int)draw(&seed, (uint32_t)n + 1), kept = order[n];
    order[n] = order[k];
    order[k] = kept;
  }
  for (int n = 0; n < size; ++n)
    if (order[n] == rank) place = n;
  const int first = 1 + (int)draw(&seed, (uint32_t)size - 1);
  const int second = 1 + (int)draw(&seed, (uint32_t)(size - first));
  const int leaders[2] = {(int)draw(&seed, (uint32_t)first), (int)draw(&seed, (uint32_t)second)};
  const int own = place >= first;
  MPI_Comm local, comm, copy;
  MPI_Comm_split(MPI_COMM_WORLD, place < first + second ? own : MPI_UNDEFINED, place, &local);
  if (local == MPI_COMM_NULL) return;
  MPI_Intercomm_create(local, leaders[own], MPI_COMM_WORLD,
                       order[own == 0 ? first + leaders[1] : leaders[0]], kTag, &comm);
  run_rounds(comm, own, 3, seed);
  MPI_Comm_dup(comm, &copy);
  run_rounds(copy, own, 2, seed + 1);
  run_rounds(comm, own, 2, seed + 2);
  expect_merged(copy, own, first + second);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&local);
}

static void spawn(char* program, char* rounds) {
  MPI_Comm comm;
  MPI_Comm_spawn(program, (char*[]){"spawned", rounds, NULL}, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                 &comm, MPI_ERRCODES_IGNORE);
  run_rounds(comm, 0, atoi(rounds), 1);
  MPI_Comm_disconnect(&comm);
}

static void be_spawned(int rounds) {
  MPI_Comm comm;
  MPI_Comm_get_parent(&comm);
  run_rounds(comm, 1, rounds, 1);
  MPI_Comm_disconnect(&comm);
}

static void accept_the_others(int rank, int rounds) {
  char port[MPI_MAX_PORT_NAME] = "";
  const int own = rank != 0;
  MPI_Comm local, comm;
  MPI_Comm_split(MPI_COMM_WORLD, own, rank, &local);
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (own == 0)
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, local, &comm);
  else
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, local, &comm);
  run_rounds(comm, own, rounds, 2);
  MPI_Comm_disconnect(&comm);
  if (rank == 0) MPI_Close_port(port);
  MPI_Comm_free(&local);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT(argc > 2 && size <= kRanksMost);
  const char* const what = argv[1];
  const int rounds = atoi(argv[2]);
  make_types();
  if (strcmp(what, "random") == 0)
    for (int round = 0; round < rounds; ++round)
      use_random_groups(rank, size, mixed(3, (uint64_t)round));
  if (strcmp(what, "spawn") == 0) spawn(argv[0], argv[2]);
  if (strcmp(what, "spawned") == 0) be_spawned(rounds);
  if (strcmp(what, "accept") == 0) accept_the_others(rank, rounds);
  for (int n = 0; n < kShapes; ++n) MPI_Type_free(&types[n]);
  if (rank == 0 && strcmp(what, "spawned") != 0) printf("%s among %d\n", what, size);
  MPI_Finalize();
  return 0;
}
