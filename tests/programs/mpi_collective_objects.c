/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_collective_objects.c - collectives whose communicators, operations, types and buffers a
 * program makes and frees as MPI allows.
 *
 *   mpi_collective_objects idup      communicators that are made while others' collectives run
 *                          numbers   communicators and windows that get the numbers of freed ones
 *                          freed     persistent requests whose operation and type are freed
 *                          orders    persistent requests that are started in different orders
 *                          bottom    buffers that are said from address 0 on
 *                          varied    persistent requests whose blocks differ in size
 *                          truncated buffers with gaps and too little room for what comes
 *                          billions  more elements for ranks 1 and 2 than an int counts */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "expect.h"
#include "functions_of_mpi.h"

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5 /* which has them as an extension */
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Gatherv_init MPIX_Gatherv_init
#define MPI_Scan_init MPIX_Scan_init
#define MPI_Scatterv_init MPIX_Scatterv_init
#endif

static int rank, size;

static void expect_sum_of_ranks(MPI_Comm comm) {
  const int own = rank + 1;
  int sum = 0;
  MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
  EXPECT_EQUAL(sum, size * (size + 1) / 2);
}

/* Open MPI starts collectives of the making by itself, whenever a request of it is looked at. */
static void make_communicators_meanwhile(void) {
  for (int n = 0; n < 200; ++n) {
    MPI_Comm made;
    MPI_Request request;
    int is_made = 0;
    MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
    if ((rank + n) % 3 == 0)
      for (int k = 0; k < 3; ++k) MPI_Test(&request, &is_made, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    expect_sum_of_ranks(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_sum_of_ranks(made);
    MPI_Comm_free(&made);
  }
}

/* Each does other collectives than the one before, whose number it gets. */
static void use_numbers_again(void) {
  enum { COUNT = 12 };
  long* const all = malloc((size_t)size * sizeof *all);
  for (int n = 0; n < COUNT; ++n) {
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    const long own = rank + n;
    for (int k = 0; k <= n % 5; ++k) {
      MPI_Allgather(&own, 1, MPI_LONG, all, 1, MPI_LONG, made);
      for (int peer = 0; peer < size; ++peer) EXPECT_EQUAL(all[peer], (long)(peer + n));
    }
    expect_sum_of_ranks(made);
    MPI_Comm_free(&made);
    int* memory;
    MPI_Win window;
    FUNCTION_OF_MPI(MPI_Win_allocate)
    (sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    FUNCTION_OF_MPI(MPI_Win_fence)(0, window);
    FUNCTION_OF_MPI(MPI_Put)(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    FUNCTION_OF_MPI(MPI_Win_fence)(0, window);
    EXPECT_EQUAL(*memory, (rank + size - 1) % size);
    FUNCTION_OF_MPI(MPI_Win_free)(&window);
  }
  free(all);
}

/* The first of each two. */
static void add_firsts(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int n = 0; n < *count; ++n) ((int*)inout)[2 * n] += ((int*)in)[2 * n];
}

static MPI_Datatype new_first_of_two(void) {
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
  MPI_Type_commit(&type);
  return type;
}

/* Pointers to them that Open MPI may have kept then lead to other content. */
static void overwrite_freed_memory(void) {
  enum { BLOCKS = 64, BYTES = 800 };
  void* blocks[BLOCKS];
  for (int n = 0; n < BLOCKS; ++n) blocks[n] = memset(malloc(BYTES), 0, BYTES);
  for (int n = 0; n < BLOCKS; ++n) free(blocks[n]);
}

static void free_what_persistent_ones_use(void) {
  enum { COUNT = 10 };
  int own[2 * COUNT], sum[2 * COUNT];
  for (int n = 0; n < 2 * COUNT; ++n) own[n] = rank, sum[n] = -1;
  MPI_Datatype type = new_first_of_two();
  MPI_Op add;
  MPI_Request request;
  MPI_Op_create(add_firsts, 1, &add);
  MPI_Allreduce_init(own, sum, COUNT, type, add, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Op_free(&add);
  MPI_Type_free(&type);
  overwrite_freed_memory();
  for (int round = 0; round < 10; ++round) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int n = 0; n < COUNT; ++n) {
      EXPECT_EQUAL(sum[2 * n], size * (size - 1) / 2);
      EXPECT_EQUAL(sum[2 * n + 1], -1); /* the gap */
    }
  }
  MPI_Request_free(&request);
}

static void start_in_different_orders(void) {
  int own, sum, own_too, before;
  MPI_Request requests[2];
  MPI_Allreduce_init(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Scan_init(&own_too, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                &requests[1]);
  for (int round = 0; round < 1000; ++round) {
    own = rank + round;
    own_too = 2 * rank + round;
    const int first = (rank + round) % 2;
    MPI_Start(&requests[first]);
    MPI_Start(&requests[1 - first]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT_EQUAL(sum, size * (size - 1) / 2 + round * size);
    EXPECT_EQUAL(before, (rank + 1) * (rank + round));
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

/* Rank n has n ints, which are gathered and scattered again. The program uses the lists of counts
 * and displacements for something else once the requests are made. */
static void vary_sizes_of_persistent_ones(void) {
  enum { RANKS_MOST = 16 };
  int own[RANKS_MOST] = {0}, back[RANKS_MOST], all[RANKS_MOST * RANKS_MOST];
  int* const counts = malloc(RANKS_MOST * sizeof *counts);
  int* const places = malloc(RANKS_MOST * sizeof *places);
  EXPECT(size <= RANKS_MOST);
  for (int n = 0; n < size; ++n) counts[n] = n, places[n] = n * RANKS_MOST;
  MPI_Request gather, scatter;
  MPI_Gatherv_init(own, rank, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &gather);
  MPI_Scatterv_init(all, counts, places, MPI_INT, back, rank, MPI_INT, 0, MPI_COMM_WORLD,
                    MPI_INFO_NULL, &scatter);
  for (int n = 0; n < RANKS_MOST; ++n) counts[n] = places[n] = -1;
  free(counts);
  free(places);
  for (int round = 0; round < 10; ++round) {
    for (int n = 0; n < rank; ++n) own[n] = rank * 1000 + n + round;
    MPI_Start(&gather);
    MPI_Wait(&gather, MPI_STATUS_IGNORE);
    for (int n = 0; rank == 0 && n < size; ++n)
      for (int k = 0; k < n; ++k) EXPECT_EQUAL(all[n * RANKS_MOST + k], n * 1000 + k + round);
    MPI_Start(&scatter);
    MPI_Wait(&scatter, MPI_STATUS_IGNORE);
    for (int n = 0; n < rank; ++n) EXPECT_EQUAL(back[n], own[n]);
  }
  MPI_Request_free(&gather);
  MPI_Request_free(&scatter);
}

/* `count` ints at their address. */
static MPI_Datatype new_place(int* at, int count) {
  MPI_Datatype type;
  MPI_Aint address;
  MPI_Get_address(at, &address);
  MPI_Type_create_hindexed(1, &count, &address, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

static void say_buffers_from_address_0_on(int count) {
  int* const from = malloc((size_t)(count * size) * sizeof *from);
  int* const to = calloc((size_t)(count * size), sizeof *to);
  MPI_Datatype* const types = malloc(2 * (size_t)size * sizeof *types);
  int* const ones = malloc(2 * (size_t)size * sizeof *ones);
  for (int n = 0; n < size; ++n) {
    for (int k = 0; k < count; ++k) from[n * count + k] = rank * 1000 + n * 10 + k % 7;
    types[n] = new_place(from + n * count, count);
    types[size + n] = new_place(to + n * count, count);
    ones[n] = 1;
    ones[size + n] = 0;
  }
  MPI_Alltoallw(MPI_BOTTOM, ones, ones + size, types, MPI_BOTTOM, ones, ones + size, types + size,
                MPI_COMM_WORLD);
  for (int n = 0; n < size; ++n)
    for (int k = 0; k < count; ++k) EXPECT_EQUAL(to[n * count + k], n * 1000 + rank * 10 + k % 7);
  MPI_Bcast(MPI_BOTTOM, 1, rank == 0 ? types[0] : types[size], 0, MPI_COMM_WORLD);
  for (int k = 0; rank != 0 && k < count; ++k) EXPECT_EQUAL(to[k], k % 7);
  for (int n = 0; n < 2 * size; ++n) MPI_Type_free(&types[n]);
  free(ones);
  free(types);
  free(to);
  free(from);
}

/* Rank 1, beside the root, has room for all but one. */
static void truncate_one(void) {
  enum { COUNT = 10 };
  int buffer[2 * COUNT];
  for (int n = 0; n < 2 * COUNT; ++n) buffer[n] = rank == 0 ? n : -1;
  MPI_Datatype type = new_first_of_two();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int room = rank == 1 ? COUNT - 1 : COUNT;
  for (int is_later = 0; is_later < 2; ++is_later) {
    MPI_Request request = MPI_REQUEST_NULL;
    int error = is_later ? MPI_Ibcast(buffer, room, type, 0, MPI_COMM_WORLD, &request)
                         : MPI_Bcast(buffer, room, type, 0, MPI_COMM_WORLD);
    if (is_later) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) MPI_Error_class(error, &error);
    EXPECT_EQUAL(error, rank == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    for (int n = 0; n < COUNT; ++n) EXPECT_EQUAL(buffer[2 * n], n < room ? 2 * n : -1);
  }
  MPI_Type_free(&type);
}

/* Memory that takes none until it is written. */
static unsigned char* new_zeros(size_t bytes) {
  void* const made =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT(made != MAP_FAILED);
  return made;
}

static void reduce_billions(void) {
  enum { SHARE = (1 << 30) + 8 };
  const int shares[3] = {0, SHARE, SHARE};
  EXPECT_EQUAL(size, 3);
  unsigned char* const own = new_zeros(2 * (size_t)SHARE);
  unsigned char* const result = new_zeros(SHARE);
  const size_t marked[] = {0, SHARE - 1, SHARE, 2 * (size_t)SHARE - 1};
  for (int n = 0; n < 4; ++n) own[marked[n]] = (unsigned char)(1 << rank);
  MPI_Reduce_scatter(own, result, shares, MPI_UNSIGNED_CHAR, MPI_BOR, MPI_COMM_WORLD);
  if (rank != 0) EXPECT(result[0] == 7 && result[1] == 0 && result[SHARE - 1] == 7);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "idup") == 0) make_communicators_meanwhile();
  if (strcmp(what, "numbers") == 0) use_numbers_again();
  if (strcmp(what, "freed") == 0) free_what_persistent_ones_use();
  if (strcmp(what, "orders") == 0) start_in_different_orders();
  if (strcmp(what, "varied") == 0) vary_sizes_of_persistent_ones();
  if (strcmp(what, "truncated") == 0) truncate_one();
  if (strcmp(what, "billions") == 0) reduce_billions();
  if (strcmp(what, "bottom") == 0)
    for (int count = 1; count < 20000; count *= 20) say_buffers_from_address_0_on(count);
  if (rank == 0) printf("%s among %d\n", what, size);
  MPI_Finalize();
  return 0;
}
