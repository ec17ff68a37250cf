/* SPDX-License-Identifier: BSD-3-Clause */
#include "redistributions.h"

#include <stdlib.h>
#include <string.h>

#include "../random_numbers.h"
#include "calls.h"
#include "grids.h"
#include "matrix.h"

enum { kContext = 1, kDescriptorWords = 9, kSizeMost = 90, kBlockMost = 20, kBehindMost = 5 };

typedef void c_call(int m, int n, void* a, int ia, int ja, int* desca, void* b, int ib, int jb,
                    int* descb, int context);
typedef void fortran_call(int* m, int* n, void* a, int* ia, int* ja, int* desca, void* b, int* ib,
                          int* jb, int* descb, int* context);
c_call Cpigemr2d, Cpsgemr2d, Cpdgemr2d, Cpcgemr2d, Cpzgemr2d;
fortran_call pigemr2d_, psgemr2d_, pdgemr2d_, pcgemr2d_, pzgemr2d_;
static c_call* const c_calls[kTypes] = {Cpigemr2d, Cpsgemr2d, Cpdgemr2d, Cpcgemr2d, Cpzgemr2d};
static fortran_call* const fortran_calls[kTypes] = {pigemr2d_, psgemr2d_, pdgemr2d_, pcgemr2d_,
                                                    pzgemr2d_};

typedef void c_call_of_trapezoid(char* which, char* diagonal, int m, int n, void* a, int ia, int ja,
                                 int* desca, void* b, int ib, int jb, int* descb, int context);
typedef void fortran_call_of_trapezoid(char* which, char* diagonal, int* m, int* n, void* a,
                                       int* ia, int* ja, int* desca, void* b, int* ib, int* jb,
                                       int* descb, int* context);
c_call_of_trapezoid Cpitrmr2d, Cpstrmr2d, Cpdtrmr2d, Cpctrmr2d, Cpztrmr2d;
fortran_call_of_trapezoid pitrmr2d_, pstrmr2d_, pdtrmr2d_, pctrmr2d_, pztrmr2d_;
static c_call_of_trapezoid* const c_calls_of_trapezoids[kTypes] = {Cpitrmr2d, Cpstrmr2d, Cpdtrmr2d,
                                                                   Cpctrmr2d, Cpztrmr2d};
static fortran_call_of_trapezoid* const fortran_calls_of_trapezoids[kTypes] = {
    pitrmr2d_, pstrmr2d_, pdtrmr2d_, pctrmr2d_, pztrmr2d_};

/* A matrix that is distributed over a grid. */
struct distributed_matrix {
  int context; /* -1: the caller is not in its grid */
  int rows, columns, row, column;
  int descriptor[kDescriptorWords];
  int m, n, block_rows, block_columns, first_row, first_column;
  int local_rows, local_columns, ld;
  int begin_row, begin_column; /* of the part, from 0 */
  size_t item_bytes;
  unsigned char* local;
};

/* How many of `n` a process has that is `distance` behind the one with the first block. */
static int local_count(int n, int block, int distance, int processes) {
  int count = 0;
  for (int k = 0; k < n; ++k) count += k / block % processes == distance;
  return count;
}
static int global_of(int local, int block, int distance, int processes) {
  return (local / block * processes + distance) * block + local % block;
}
static int row_distance(const struct distributed_matrix* a) {
  return (a->row - a->first_row + a->rows) % a->rows;
}
static int column_distance(const struct distributed_matrix* a) {
  return (a->column - a->first_column + a->columns) % a->columns;
}

static void draw_grid(struct distributed_matrix* a, uint64_t* random, int processes) {
  int map[kProcessesMost], all;
  for (int n = 0; n < processes; ++n) map[n] = n;
  for (int n = processes - 1; n > 0; --n) {
    const int other = (int)draw(random, (uint32_t)n + 1), kept = map[n];
    map[n] = map[other];
    map[other] = kept;
  }
  a->rows = 1 + (int)draw(random, (uint32_t)processes);
  a->columns = 1 + (int)draw(random, (uint32_t)(processes / a->rows));
  grid_calls[0].get(0, 0, &all);
  a->context = all;
  grid_calls[0].gridmap(&a->context, map, a->rows, a->rows, a->columns);
  if (a->context >= 0)
    grid_calls[0].gridinfo(a->context, &a->rows, &a->columns, &a->row, &a->column);
}

static struct distributed_matrix draw_distributed_matrix(uint64_t* random, int m, int n,
                                                         int processes, size_t item_bytes) {
  struct distributed_matrix a = {.item_bytes = item_bytes};
  draw_grid(&a, random, processes);
  a.begin_row = (int)draw(random, 1 + kBehindMost);
  a.begin_column = (int)draw(random, 1 + kBehindMost);
  a.m = a.begin_row + m + (int)draw(random, 1 + kBehindMost);
  a.n = a.begin_column + n + (int)draw(random, 1 + kBehindMost);
  a.block_rows = 1 + (int)draw(random, kBlockMost);
  a.block_columns = 1 + (int)draw(random, kBlockMost);
  a.first_row = (int)draw(random, (uint32_t)a.rows);
  a.first_column = (int)draw(random, (uint32_t)a.columns);
  const int more = (int)draw(random, 4);
  /* A process that is not in the grid knows nothing of it. */
  memset(a.descriptor, 0x3c, sizeof a.descriptor);
  a.descriptor[kContext] = -1;
  if (a.context < 0) return a;
  a.local_rows = local_count(a.m, a.block_rows, row_distance(&a), a.rows);
  a.local_columns = local_count(a.n, a.block_columns, column_distance(&a), a.columns);
  a.ld = (a.local_rows < 1 ? 1 : a.local_rows) + more;
  a.local = malloc((size_t)a.ld * (size_t)a.local_columns * item_bytes + 1);
  const int words[kDescriptorWords] = {
      1, a.context, a.m, a.n, a.block_rows, a.block_columns, a.first_row, a.first_column, a.ld};
  memcpy(a.descriptor, words, sizeof words);
  return a;
}

static void free_distributed_matrix(struct distributed_matrix* a) {
  if (a->context < 0) return;
  grid_calls[0].gridexit(a->context);
  free(a->local);
}

/* An item of a part that is moved: by its place there. Others: by whose they are. */
static void put_item(unsigned char* item, size_t bytes, uint64_t seed, int row, int column) {
  fill(mixed(seed, (uint64_t)(row + 10) << 32 | (uint64_t)(column + 10)), item, bytes);
}

/* Calls what(item, its row and column in the part) for all local items, of gaps with row -10. */
static void for_each_item(const struct distributed_matrix* a, uint64_t seed,
                          void (*what)(unsigned char*, size_t, uint64_t, int, int)) {
  for (int j = 0; j < a->local_columns; ++j)
    for (int i = 0; i < a->ld; ++i)
      what(a->local + ((size_t)j * (size_t)a->ld + (size_t)i) * a->item_bytes, a->item_bytes, seed,
           i < a->local_rows ? global_of(i, a->block_rows, row_distance(a), a->rows) - a->begin_row
                             : -10,
           global_of(j, a->block_columns, column_distance(a), a->columns) - a->begin_column);
}

static struct part part;

static void expect_item(unsigned char* item, size_t bytes, uint64_t seed, int row, int column) {
  unsigned char wanted[16];
  const bool is_moved =
      row >= 0 && row < part.m && column >= 0 && column < part.n && is_in_part(&part, row, column);
  put_item(wanted, bytes, is_moved ? seed : ~seed, row, column);
  if (memcmp(item, wanted, bytes) != 0) fail("item {%d,%d} after a redistribution", row, column);
}

static void call(uint32_t type, bool is_c, struct distributed_matrix* a,
                 struct distributed_matrix* b, int context_of_all) {
  char which[] = {part.which, 0}, diagonal[] = {part.diagonal, 0};
  int ia = a->begin_row + 1, ja = a->begin_column + 1;
  int ib = b->begin_row + 1, jb = b->begin_column + 1;
  if (part.is_trapezoid && is_c)
    c_calls_of_trapezoids[type](which, diagonal, part.m, part.n, a->local, ia, ja, a->descriptor,
                                b->local, ib, jb, b->descriptor, context_of_all);
  else if (part.is_trapezoid)
    fortran_calls_of_trapezoids[type](which, diagonal, &part.m, &part.n, a->local, &ia, &ja,
                                      a->descriptor, b->local, &ib, &jb, b->descriptor,
                                      &context_of_all);
  else if (is_c)
    c_calls[type](part.m, part.n, a->local, ia, ja, a->descriptor, b->local, ib, jb, b->descriptor,
                  context_of_all);
  else
    fortran_calls[type](&part.m, &part.n, a->local, &ia, &ja, a->descriptor, b->local, &ib, &jb,
                        b->descriptor, &context_of_all);
}

bool redistribute(uint64_t seed, int context_of_all, int processes) {
  uint64_t random = mixed(seed, 1);
  const uint32_t type = draw(&random, kTypes);
  const bool is_c = draw(&random, 2) == 0;
  part.m = (int)draw(&random, kSizeMost);
  part.n = (int)draw(&random, kSizeMost);
  part.is_trapezoid = draw(&random, 2) == 0;
  part.which = "uUlL"[draw(&random, 4)];
  part.diagonal = "uUnN"[draw(&random, 4)];
  const size_t item_bytes = matrix_calls[0][type].item_bytes;
  struct distributed_matrix a =
      draw_distributed_matrix(&random, part.m, part.n, processes, item_bytes);
  struct distributed_matrix b =
      draw_distributed_matrix(&random, part.m, part.n, processes, item_bytes);
  now_going_on("%d x %d of type %u%s%c%c from %d x %d processes to %d x %d, seed %llu", part.m,
               part.n, type, part.is_trapezoid ? ", trapezoid " : ", rectangle, not ", part.which,
               part.diagonal, a.rows, a.columns, b.rows, b.columns, (unsigned long long)seed);
  for_each_item(&a, seed, put_item);
  for_each_item(&b, ~seed, put_item);
  call(type, is_c, &a, &b, context_of_all);
  /* The source is its process's again. */
  if (a.context >= 0) memset(a.local, 0x55, (size_t)a.ld * (size_t)a.local_columns * item_bytes);
  for_each_item(&b, seed, expect_item);
  free_distributed_matrix(&a);
  free_distributed_matrix(&b);
  return part.m > 0 && part.n > 0;
}
