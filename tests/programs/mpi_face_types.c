/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_face_types.c - messages of random derived types, by all combiners, against MPI_Pack and
 * MPI_Unpack. Both ranks draw the same types. Knows nothing of Nagaya.
 *
 *   mpi_face_types SEED COUNT
 *   mpi_face_types threads        some threads use a new type for the first time at once */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "expect.h"
#include "random_numbers.h"
#include "random_types.h"

enum { kAreaBytes = 1 << 20, kMiddle = kAreaBytes / 2, kMostCount = 60 };

static int rank, partner;
static unsigned char *area, *expected, *packed, *wanted;
static unsigned char *own, *partners; /* what the two ranks send from */
static uint64_t state;

static int pack(const void* base, int count, MPI_Datatype type, void* to) {
  int position = 0;
  MPI_Pack(base, count, type, to, kAreaBytes, &position, MPI_COMM_WORLD);
  return position;
}

static void unpack(const void* from, int bytes, void* base, int count, MPI_Datatype type) {
  int position = 0;
  MPI_Unpack(from, bytes, &position, base, count, type, MPI_COMM_WORLD);
}

/* ---- one type ------------------------------------------------------------------------------ */

/* As many elements as lie in the area. */
static int draw_count(MPI_Datatype type) {
  MPI_Aint lower, extent, first, span;
  int bytes;
  MPI_Type_size(type, &bytes);
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &first, &span);
  int count = (int)draw(&state, kMostCount);
  while (count > 1 &&
         (labs(extent) * count + labs(first) + span > kMiddle || bytes * count > kAreaBytes))
    --count;
  return count;
}

/* Whether no two bytes of the elements lie at one address: only then may they be received. */
static int is_without_overlap(int count, MPI_Datatype type) {
  const int bytes = pack(area + kMiddle, count, type, packed);
  unpack(own, bytes, expected + kMiddle, count, type);
  pack(expected + kMiddle, count, type, packed);
  return memcmp(packed, own, (size_t)bytes) == 0;
}

/* The data of a call: elements in the area, or one element of absolute addresses. */
typedef struct data_t {
  void* base;
  int count;
  MPI_Datatype type;
} data_t;

/* Data arrive as the bytes that MPI_Pack makes of the elements in the area. */
static void send_as_type(data_t sent, int count, MPI_Datatype type) {
  MPI_Request request;
  MPI_Status status;
  const int bytes = pack(partners + kMiddle, count, type, wanted);
  memcpy(area, own, kAreaBytes);
  memset(packed, 0, (size_t)bytes + 1);
  MPI_Isend(sent.base, sent.count, sent.type, partner, 1, MPI_COMM_WORLD, &request);
  MPI_Recv(packed, bytes + 1, MPI_PACKED, partner, 1, MPI_COMM_WORLD, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int got;
  MPI_Get_count(&status, MPI_PACKED, &got);
  EXPECT_EQUAL(got, bytes);
  EXPECT(memcmp(packed, wanted, (size_t)bytes) == 0);
}

/* Bytes arrive where MPI_Unpack stores them, and touch nothing else. */
static void receive_as_type(data_t received, int count, MPI_Datatype type) {
  MPI_Request request;
  MPI_Status status;
  const int bytes = pack(area + kMiddle, count, type, packed);
  memset(expected, 0x55, kAreaBytes);
  unpack(partners, bytes, expected + kMiddle, count, type);
  memset(area, 0x55, kAreaBytes);
  MPI_Irecv(received.base, received.count, received.type, partner, 2, MPI_COMM_WORLD, &request);
  MPI_Send(own, bytes, MPI_PACKED, partner, 2, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);
  int got;
  MPI_Get_count(&status, MPI_PACKED, &got);
  EXPECT_EQUAL(got, bytes);
  EXPECT(memcmp(area, expected, kAreaBytes) == 0);
}

/* A type whose one block is at the address of the area: sent from, and received at, MPI_BOTTOM. */
static MPI_Datatype at_address(int count, MPI_Datatype type) {
  MPI_Aint address;
  MPI_Datatype absolute;
  MPI_Get_address(area + kMiddle, &address);
  MPI_Type_create_hindexed(1, &count, &address, type, &absolute);
  MPI_Type_commit(&absolute);
  return absolute;
}

static void try_one(void) {
  MPI_Datatype type = draw_type(&state, 3);
  MPI_Type_commit(&type);
  const int count = draw_count(type);
  const data_t relative = {area + kMiddle, count, type};
  data_t absolute = {MPI_BOTTOM, 1, at_address(count, type)};
  send_as_type(relative, count, type);
  send_as_type(absolute, count, type);
  if (is_without_overlap(count, type)) {
    receive_as_type(relative, count, type);
    receive_as_type(absolute, count, type);
  }
  MPI_Type_free(&absolute.type);
  free_type(&type);
}

/* Types without data, one of whose old types has some, and no elements of one that has. */
static void send_nothing(void) {
  MPI_Datatype empty, pair;
  MPI_Type_vector(0, 3, 4, MPI_INT, &empty);
  MPI_Type_vector(2, 1, 3, MPI_INT, &pair);
  MPI_Type_commit(&empty);
  MPI_Type_commit(&pair);
  const data_t all[] = {
      {area, 5, empty}, {area, 0, pair}, {MPI_BOTTOM, 0, pair}, {MPI_BOTTOM, 1, empty}};
  for (size_t n = 0; n < sizeof all / sizeof *all; ++n) {
    MPI_Request request;
    MPI_Status status;
    int got;
    MPI_Isend(all[n].base, all[n].count, all[n].type, partner, 7, MPI_COMM_WORLD, &request);
    MPI_Recv(all[n].base, all[n].count, all[n].type, partner, 7, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Get_count(&status, MPI_BYTE, &got);
    EXPECT_EQUAL(got, 0);
  }
  MPI_Type_free(&empty);
  MPI_Type_free(&pair);
}

/* ---- the lives of types -------------------------------------------------------------------- */

/* The MPI gives the handle of a freed type to the next one. */
static void free_and_make_again(void) {
  int numbers[64], got[8];
  for (int n = 0; n < 64; ++n) numbers[n] = 100 * rank + n;
  for (int n = 0; n < 500; ++n) {
    MPI_Datatype type;
    const int stride = 1 + n % 8;
    MPI_Type_vector(8, 1, stride, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Request request;
    MPI_Isend(numbers, 1, type, partner, 3, MPI_COMM_WORLD, &request);
    MPI_Recv(got, 8, MPI_INT, partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int k = 0; k < 8; ++k) EXPECT_EQUAL(got[k], 100 * partner + k * stride);
    MPI_Type_free(&type);
  }
}

/* A receive keeps its type, though the program frees it, and makes others with its handle. */
static void free_while_pending(int blocks) {
  MPI_Datatype type, other;
  MPI_Request request;
  int* const into = calloc((size_t)blocks * 3, sizeof *into);
  int* const numbers = malloc((size_t)blocks * sizeof *numbers);
  int* const places = calloc((size_t)blocks, sizeof *places);
  for (int n = 0; n < blocks; ++n) numbers[n] = 1000 * rank + n, places[n] = 3 * n + n % 2;
  MPI_Type_create_indexed_block(blocks, 1, places, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Irecv(into, 1, type, partner, 4, MPI_COMM_WORLD, &request);
  MPI_Type_free(&type);
  MPI_Type_vector(blocks, 1, 2, MPI_INT, &other);
  MPI_Type_commit(&other);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(numbers, blocks, MPI_INT, partner, 4, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int n = 0; n < blocks; ++n) EXPECT_EQUAL(into[places[n]], 1000 * partner + n);
  MPI_Type_free(&other);
  free(into), free(numbers), free(places);
}

/* A derived type that its parts have outlived, and one whose old type is freed before its first
 * use. */
static void free_old_type_first(void) {
  MPI_Datatype pair, type;
  int numbers[20], got[4];
  for (int n = 0; n < 20; ++n) numbers[n] = n;
  MPI_Type_vector(2, 1, 3, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 40, &type);
  MPI_Type_free(&pair);
  MPI_Type_commit(&type);
  for (int n = 0; n < 3; ++n) {
    MPI_Request request;
    MPI_Isend(numbers, 2, type, partner, 5, MPI_COMM_WORLD, &request);
    MPI_Recv(got, 4, MPI_INT, partner, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQUAL(got[0] + 100 * got[1] + 10000 * got[2] + 1000000 * got[3], 13100300);
  }
  MPI_Type_free(&type);
}

/* Room for more than 2^32 bytes, of which few arrive. */
static void receive_into_much_room(void) {
  const size_t room = (size_t)1 << 34;
  int* const into =
      mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT(into != MAP_FAILED);
  MPI_Datatype type;
  MPI_Request request;
  MPI_Type_vector(1 << 20, 3, 4, MPI_INT, &type);
  MPI_Type_commit(&type);
  int numbers[300];
  for (int n = 0; n < 300; ++n) numbers[n] = 1000 * rank + n;
  MPI_Irecv(into, 1 << 10, type, partner, 6, MPI_COMM_WORLD, &request);
  MPI_Send(numbers, 300, MPI_INT, partner, 6, MPI_COMM_WORLD);
  MPI_Status status;
  int got;
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_INT, &got);
  EXPECT_EQUAL(got, 300);
  for (int n = 0; n < 300; ++n) EXPECT_EQUAL(into[n / 3 * 4 + n % 3], 1000 * partner + n);
  MPI_Type_free(&type);
  munmap(into, room);
}

/* ---- threads ------------------------------------------------------------------------------- */

/* So many blocks that the threads describe the type at the same time. */
enum { kThreads = 4, kRounds = 20, kBlocks = 200000 };
static MPI_Datatype new_type;
static int places[kBlocks], numbers[3 * kBlocks];
static pthread_barrier_t all_ready;
static atomic_int arrived;

static void make_new_type(int round) {
  for (int n = 0; n < kBlocks; ++n) places[n] = 3 * n + (n + round) % 2;
  MPI_Type_create_indexed_block(kBlocks, 1, places, MPI_INT, &new_type);
  MPI_Type_commit(&new_type);
}

/* Leaves with as little delay between the threads as possible. */
static void meet(int round) {
  ++arrived;
  while (arrived < kThreads * (round + 1)) sched_yield();
}

/* Thread `number` sends the new type to its like in the other rank. */
static void* use_new_types(void* number) {
  const int tag = (int)(intptr_t)number;
  int* const got = malloc(kBlocks * sizeof *got);
  for (int round = 0; round < kRounds; ++round) {
    if (tag == 0) make_new_type(round);
    meet(round);
    MPI_Request request;
    MPI_Isend(numbers, 1, new_type, partner, tag, MPI_COMM_WORLD, &request);
    MPI_Recv(got, kBlocks, MPI_INT, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int n = 0; n < kBlocks; ++n) EXPECT_EQUAL(got[n], places[n] + partner);
    pthread_barrier_wait(&all_ready);
    if (tag == 0) MPI_Type_free(&new_type);
  }
  free(got);
  return NULL;
}

static void use_in_threads(void) {
  pthread_t threads[kThreads];
  pthread_barrier_init(&all_ready, NULL, kThreads);
  for (int n = 0; n < 3 * kBlocks; ++n) numbers[n] = n + rank;
  for (intptr_t n = 0; n < kThreads; ++n)
    EXPECT(pthread_create(&threads[n], NULL, use_new_types, (void*)n) == 0);
  for (int n = 0; n < kThreads; ++n) pthread_join(threads[n], NULL);
  if (rank == 0) printf("%d types in %d threads\n", kRounds, kThreads);
}

static void use_random_types(int types) {
  area = malloc(kAreaBytes), expected = malloc(kAreaBytes);
  packed = malloc(kAreaBytes), wanted = malloc(kAreaBytes);
  own = malloc(kAreaBytes), partners = malloc(kAreaBytes);
  fill((uint64_t)rank, own, kAreaBytes);
  fill((uint64_t)partner, partners, kAreaBytes);
  for (int n = 0; n < types; ++n) try_one();
  send_nothing();
  free_and_make_again();
  free_while_pending(20);
  free_while_pending(30000);
  free_old_type_first();
  receive_into_much_room();
  if (rank == 0) printf("%d types, by %d combiners\n", types, combiners_drawn());
}

int main(int argc, char** argv) {
  int level;
  const int has_threads = argc == 2 && strcmp(argv[1], "threads") == 0;
  EXPECT(has_threads || argc == 3);
  MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  partner = 1 - rank;
  if (has_threads) {
    EXPECT_EQUAL(level, MPI_THREAD_MULTIPLE);
    use_in_threads();
  } else {
    state = strtoull(argv[1], NULL, 10);
    use_random_types(atoi(argv[2]));
  }
  MPI_Finalize();
  return 0;
}
