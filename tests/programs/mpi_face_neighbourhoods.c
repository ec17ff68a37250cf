/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_face_neighbourhoods.c - neighbourhood collectives, in all forms, on topologies where the same
 * rank is a neighbour several times or not at all. Knows nothing of Nagaya. mpi_face_neighbourhoods
 * SEED
 *
 * Each rank knows the neighbours of all ranks, and so which block it must get from which:
 *   Cartesian      from the neighbour below its block for the one above
 *   other graphs   if there are several edges from one rank to another, in their order */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

#include "expect.h"
#include "random_numbers.h"

enum { kEdgesMost = 8, kRanksMost = 16, kItemsMost = 9000 };
enum operation { kAllgather, kAllgatherv, kAlltoall, kAlltoallv, kAlltoallw, kOperations };
enum form { kBlocking, kNonBlocking, kPersistent, kForms };

struct neighbours {
  int in, out, sources[kEdgesMost], destinations[kEdgesMost];
};

static struct neighbours all[kRanksMost];
static int rank, size, is_cartesian;

static void exchange_neighbours(MPI_Comm comm, const struct neighbours* own) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Allgather(own, sizeof *own, MPI_BYTE, all, sizeof *own, MPI_BYTE, comm);
}

/* ---- what a rank sends, and must get ----------------------------------------------------------
 */

static int count_of(enum operation operation, uint64_t seed, int from, int edge) {
  const int varies = operation == kAlltoallv || operation == kAlltoallw;
  if (operation == kAllgatherv) return (int)(mixed(seed, (uint64_t)from) % kItemsMost);
  return (int)(mixed(seed, varies ? (uint64_t)(from * kEdgesMost + edge) : 0) % kItemsMost);
}
static int item(int from, int edge, int n) {
  return from * 1000000 + edge * 100000 + n;
}

/* The number of the edge at its sender that is the caller's edge `n`. */
static int edge_at_sender(int n) {
  const int from = all[rank].sources[n];
  if (is_cartesian) return n ^ 1;
  int earlier = 0;
  for (int k = 0; k < n; ++k) earlier += all[rank].sources[k] == from;
  for (int k = 0; k < all[from].out; ++k)
    if (all[from].destinations[k] == rank && earlier-- == 0) return k;
  _exit(2);
}

struct side {
  int counts[kEdgesMost], places[kEdgesMost];
  MPI_Aint byte_places[kEdgesMost];
  MPI_Datatype types[kEdgesMost];
  int* items;
};

static void place(struct side* side, int edges) {
  int end = 0;
  for (int n = 0; n < edges; ++n) {
    side->types[n] = MPI_INT;
    side->places[n] = end;
    side->byte_places[n] = end * (MPI_Aint)sizeof(int);
    end += side->counts[n];
  }
  side->items = malloc(((size_t)end + 1) * sizeof *side->items);
  for (int n = 0; n < end; ++n) side->items[n] = -1;
}

static void make_sides(enum operation operation, uint64_t seed, struct side* from,
                       struct side* to) {
  const struct neighbours* const own = &all[rank];
  const int is_for_all = operation == kAllgather || operation == kAllgatherv;
  const int blocks = is_for_all ? 1 : own->out;
  for (int n = 0; n < blocks; ++n) from->counts[n] = count_of(operation, seed, rank, n);
  for (int n = 0; n < own->in; ++n) {
    const int source = own->sources[n];
    const int count = count_of(operation, seed, source, 0);
    to->counts[n] = operation == kAllgather || operation == kAlltoall ? count : 0;
    if (source != MPI_PROC_NULL)
      to->counts[n] = count_of(operation, seed, source, is_for_all ? 0 : edge_at_sender(n));
  }
  place(from, blocks);
  place(to, own->in);
  for (int n = 0; n < blocks; ++n)
    for (int k = 0; k < from->counts[n]; ++k) from->items[from->places[n] + k] = item(rank, n, k);
}

static void check(enum operation operation, const struct side* to) {
  const int is_for_all = operation == kAllgather || operation == kAllgatherv;
  for (int n = 0; n < all[rank].in; ++n)
    for (int k = 0; k < to->counts[n]; ++k) {
      const int source = all[rank].sources[n];
      const int got = to->items[to->places[n] + k];
      EXPECT_EQUAL(
          got, source == MPI_PROC_NULL ? -1 : item(source, is_for_all ? 0 : edge_at_sender(n), k));
    }
}

/* ---- the calls --------------------------------------------------------------------------------
 */

#define FORM(name, ...)                                                      \
  (form == kBlocking      ? MPI_Neighbor_##name(__VA_ARGS__, comm)           \
   : form == kNonBlocking ? MPI_Ineighbor_##name(__VA_ARGS__, comm, request) \
                          : MPI_Neighbor_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request))

static void call(enum operation operation, enum form form, struct side* f, struct side* t,
                 MPI_Comm comm, MPI_Request* request) {
  const MPI_Datatype i = MPI_INT;
  int error = MPI_SUCCESS;
  *request = MPI_REQUEST_NULL;
  if (operation == kAllgather)
    error = FORM(allgather, f->items, *f->counts, i, t->items, *t->counts, i);
  if (operation == kAllgatherv)
    error = FORM(allgatherv, f->items, *f->counts, i, t->items, t->counts, t->places, i);
  if (operation == kAlltoall)
    error = FORM(alltoall, f->items, *f->counts, i, t->items, *t->counts, i);
  if (operation == kAlltoallv)
    error = FORM(alltoallv, f->items, f->counts, f->places, i, t->items, t->counts, t->places, i);
  if (operation == kAlltoallw)
    error = FORM(alltoallw, f->items, f->counts, f->byte_places, f->types, t->items, t->counts,
                 t->byte_places, t->types);
  EXPECT_EQUAL(error, MPI_SUCCESS);
}

static void free_sides(struct side* from, struct side* to) {
  free(from->items);
  free(to->items);
}

/* Two of each kind are under way at once; ranks start persistent ones in different orders. */
static void check_operation(enum operation operation, enum form form, MPI_Comm comm,
                            uint64_t seed) {
  struct side from[2], to[2];
  MPI_Request requests[2];
  for (int n = 0; n < 2; ++n) {
    make_sides(operation, mixed(seed, (uint64_t)n), &from[n], &to[n]);
    call(operation, form, &from[n], &to[n], comm, &requests[n]);
  }
  for (int n = 0; form == kPersistent && n < 2; ++n) MPI_Start(&requests[(n + rank) % 2]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int n = 0; n < 2; ++n) {
    check(operation, &to[n]);
    if (form == kPersistent) MPI_Request_free(&requests[n]);
    free_sides(&from[n], &to[n]);
  }
}

static void check_all(MPI_Comm comm, uint64_t seed) {
  for (int operation = 0; operation < kOperations; ++operation)
    for (int form = 0; form < kForms; ++form)
      check_operation((enum operation)operation, (enum form)form, comm, mixed(seed, 1));
}

/* ---- topologies -------------------------------------------------------------------------------
 */

static void check_cartesian(int dimensions, const int* sides, const int* are_periodic,
                            uint64_t seed) {
  MPI_Comm comm;
  struct neighbours own = {.in = 2 * dimensions, .out = 2 * dimensions};
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, sides, are_periodic, 0, &comm);
  for (int n = 0; n < dimensions; ++n)
    MPI_Cart_shift(comm, n, 1, &own.sources[2 * n], &own.sources[2 * n + 1]);
  memcpy(own.destinations, own.sources, sizeof own.sources);
  is_cartesian = 1;
  exchange_neighbours(comm, &own);
  check_all(comm, seed);
  MPI_Comm_free(&comm);
}

/* Every rank is a neighbour of the next one twice, and of itself. */
static void check_graph(uint64_t seed) {
  MPI_Comm comm;
  struct neighbours own;
  int ends[kRanksMost], edges[kRanksMost * 5];
  for (int n = 0; n < size; ++n) {
    const int next = (n + 1) % size, last = (n + size - 1) % size;
    memcpy(edges + 5 * n, (int[]){next, next, n, last, last}, 5 * sizeof *edges);
    ends[n] = 5 * (n + 1);
  }
  MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &comm);
  MPI_Graph_neighbors_count(comm, rank, &own.in);
  MPI_Graph_neighbors(comm, rank, own.in, own.sources);
  own.out = own.in;
  memcpy(own.destinations, own.sources, sizeof own.sources);
  is_cartesian = 0;
  exchange_neighbours(comm, &own);
  check_all(comm, seed);
  MPI_Comm_free(&comm);
}

/* Random edges, some of them several times. */
static void check_distributed_graph(uint64_t seed) {
  MPI_Comm comm;
  struct neighbours own = {.in = 0, .out = 0};
  uint64_t random = seed;
  int in[kRanksMost] = {0}, out[kRanksMost] = {0};
  for (int n = 0; n < 3 * size; ++n) {
    const int from = (int)draw(&random, (uint32_t)size), to = (int)draw(&random, (uint32_t)size);
    if (in[to] == kEdgesMost || out[from] == kEdgesMost) continue;
    if (from == rank) own.destinations[out[from]] = to;
    if (to == rank) own.sources[in[to]] = from;
    ++out[from];
    ++in[to];
  }
  own.in = in[rank];
  own.out = out[rank];
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, own.in, own.sources, MPI_UNWEIGHTED, own.out,
                                 own.destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  is_cartesian = 0;
  exchange_neighbours(comm, &own);
  check_all(comm, seed);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const uint64_t seed = (uint64_t)atoll(argv[1]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_cartesian(1, (int[]){size}, (int[]){0}, mixed(seed, 1));
  check_cartesian(1, (int[]){size}, (int[]){1}, mixed(seed, 2));
  check_cartesian(3, (int[]){1, size, 1}, (int[]){1, 1, 0}, mixed(seed, 3));
  check_graph(mixed(seed, 4));
  for (int n = 0; n < 3; ++n) check_distributed_graph(mixed(seed, 5 + (uint64_t)n));
  if (rank == 0) printf("neighbourhoods of %d\n", size);
  MPI_Finalize();
  return 0;
}
