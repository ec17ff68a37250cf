/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_types.c - messages of every derived type to every other, by all the ways that their lengths
 * take. MPI_Pack tells which bytes have to arrive where. Knows nothing of Nagaya. */
#include <mpi.h>
#include <stdlib.h>

#include "expect.h"

enum { kTypes = 10, kAreaInts = 1 << 20, kBegin = 1 << 10, kMost = 5000, kBlocks = 40 };

static int rank, size, partner;
static MPI_Datatype types[kTypes];
static int *area, *into, *order_of[kTypes];

/* ---- the types ----------------------------------------------------------------------------- */

static MPI_Datatype box(const int* whole, const int* part, const int* from) {
  MPI_Datatype type;
  MPI_Type_create_subarray(3, whole, part, from, MPI_ORDER_C, MPI_INT, &type);
  return type;
}

static void make_types(void) {
  MPI_Type_contiguous(12, MPI_INT, &types[0]);
  MPI_Type_vector(8, 16, 48, MPI_INT, &types[1]);
  MPI_Type_vector(100, 1, 2, MPI_INT, &types[2]);
  MPI_Type_vector(6, 3, -5, MPI_INT, &types[3]);
  MPI_Datatype column;
  MPI_Type_vector(30, 1, kMost, MPI_INT, &column);
  MPI_Type_create_resized(column, 0, sizeof(int), &types[4]);
  types[5] = box((int[]){8, 9, 10}, (int[]){5, 6, 7}, (int[]){1, 2, 3});
  types[6] = box((int[]){kBlocks + 2, 5, 6}, (int[]){kBlocks, 3, 2}, (int[]){1, 1, 1});
  int lengths[kBlocks], places[kBlocks];
  for (int n = 0; n < kBlocks; ++n) lengths[n] = 1 + n % 3, places[n] = 7 * n + n % 2;
  MPI_Type_indexed(5, lengths, places, MPI_INT, &types[7]);
  MPI_Type_indexed(kBlocks, lengths, places, MPI_INT, &types[8]);
  MPI_Aint offsets[] = {4000, 0, 2000};
  MPI_Type_create_struct(3, (int[]){1, 2, 1}, offsets,
                         (MPI_Datatype[]){types[1], MPI_INT, types[7]}, &types[9]);
  for (int n = 0; n < kTypes; ++n) MPI_Type_commit(&types[n]);
  MPI_Type_free(&column);
}

static int ints_of(int type, int count) {
  int bytes;
  MPI_Type_size(types[type], &bytes);
  return bytes / (int)sizeof(int) * count;
}

/* Where in the area its ints lie, in the order of the message; as many elements as fit. */
static int* find_order(int type, int* count) {
  MPI_Aint lower, extent, true_lower, true_extent;
  MPI_Type_get_extent(types[type], &lower, &extent);
  MPI_Type_get_true_extent(types[type], &true_lower, &true_extent);
  const MPI_Aint room = (MPI_Aint)(kAreaInts - 2 * kBegin) * (MPI_Aint)sizeof(int) - true_extent;
  *count = room / extent < kMost ? (int)(room / extent) : kMost;
  for (int n = 0; n < kAreaInts; ++n) area[n] = n;
  const int ints = ints_of(type, *count), bytes = ints * (int)sizeof(int);
  int* const order = malloc((size_t)bytes);
  int position = 0;
  MPI_Pack(area + kBegin, *count, types[type], order, bytes, &position, MPI_COMM_WORLD);
  EXPECT_EQUAL(position, bytes);
  return order;
}

/* ---- messages ------------------------------------------------------------------------------ */

static int value(int sender, int place) {
  return sender * 10000019 + place;
}

static void send_one(int type, int count, MPI_Request* request) {
  for (int n = 0; n < kAreaInts; ++n) area[n] = value(rank, n);
  MPI_Isend(area + kBegin, count, types[type], partner, 1, MPI_COMM_WORLD, request);
}

static void receive_one(int type, int count, int sent_type, int ints) {
  MPI_Status status;
  for (int n = 0; n < kAreaInts; ++n) into[n] = -1;
  MPI_Recv(into + kBegin, count, types[type], partner, 1, MPI_COMM_WORLD, &status);
  int got;
  MPI_Get_elements(&status, MPI_INT, &got);
  EXPECT_EQUAL(got, ints);
  for (int n = 0; n < ints; ++n) {
    EXPECT_EQUAL(into[order_of[type][n]], value(partner, order_of[sent_type][n]));
    into[order_of[type][n]] = -1;
  }
  for (int n = 0; n < kAreaInts; ++n) EXPECT_EQUAL(into[n], -1); /* nothing beside it */
}

/* Both to each other at once. */
static void exchange(int sent, int sent_count, int received) {
  MPI_Request request;
  const int ints = ints_of(sent, sent_count), each = ints_of(received, 1);
  send_one(sent, sent_count, &request);
  receive_one(received, (ints + each - 1) / each, sent, ints);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT(size % 2 == 0);
  partner = (rank + size / 2) % size;
  area = malloc(kAreaInts * sizeof *area);
  into = malloc(kAreaInts * sizeof *into);
  make_types();
  int most[kTypes];
  for (int n = 0; n < kTypes; ++n) order_of[n] = find_order(n, &most[n]);
  for (int sent = 0; sent < kTypes; ++sent)
    for (int received = 0; received < kTypes; ++received) {
      const int room = ints_of(received, most[received]) / ints_of(sent, 1);
      const int all = room < most[sent] ? room : most[sent];
      const int counts[] = {1, 3, 40, all};
      for (int n = 0; n < 4; ++n)
        if (counts[n] <= all) exchange(sent, counts[n], received);
    }
  if (rank == 0) printf("every type among %d\n", size);
  MPI_Finalize();
  return 0;
}
