/* SPDX-License-Identifier: BSD-3-Clause */
#include "grids.h"

#include <string.h>

#include "../random_numbers.h"
#include "matrix.h"

enum { kHandle = 0, kHandleOfContext = 10, kFirstSetting = 11, kLastSetting = 16 };
enum { kNeverRead = -77 };

#define CHECK(condition) \
  if (!(condition)) fail("not so: %s", #condition)

/* ---- processes ----------------------------------------------------------------------------- */

void make_origins(struct origins* origins) {
  struct members* const all = &origins->all;
  MPI_Comm_size(MPI_COMM_WORLD, &all->count);
  MPI_Comm_rank(MPI_COMM_WORLD, &all->own);
  CHECK(all->count <= kProcessesMost);
  for (int n = 0; n < all->count; ++n) all->process[n] = n;
  struct members* const half = &origins->half;
  half->count = 0;
  for (int n = all->count - 1; n >= 0; --n) {
    if (n % 2 != all->own % 2) continue;
    if (n == all->own) half->own = half->count;
    half->process[half->count++] = n;
  }
  MPI_Comm_split(MPI_COMM_WORLD, all->own % 2, -all->own, &origins->half_comm);
  const int handle = grid_calls[0].system_handle(origins->half_comm);
  CHECK(Cblacs2sys_handle(handle) == origins->half_comm);
  CHECK(Cblacs2sys_handle(0) == MPI_COMM_WORLD);
}

void free_origins(struct origins* origins) {
  MPI_Comm_free(&origins->half_comm);
}

/* ---- making -------------------------------------------------------------------------------- */

/* Chooses a handle. Returns the processes that it stands for. */
static const struct members* choose_handle(uint64_t* random, const struct grid_calls* calls,
                                           const struct origins* origins, const struct grid* parent,
                                           int* handle) {
  if (parent != NULL) {
    calls->get(parent->context, kHandleOfContext, handle);
    return &parent->members;
  }
  if (draw(random, 3) == 0) {
    *handle = calls->system_handle(origins->half_comm);
    return &origins->half;
  }
  calls->get(-1, kHandle, handle);
  if (calls == &grid_calls[0] && draw(random, 4) == 0) *handle = 0; /* they are all in C */
  return &origins->all;
}

static void choose_sides(uint64_t* random, struct grid* grid, int count) {
  grid->rows = 1 + (int)draw(random, (uint32_t)count);
  const int most = count / grid->rows;
  grid->columns = draw(random, 2) == 0 ? most : 1 + (int)draw(random, (uint32_t)most);
}

/* In `map`, by columns, the places of the processes among `from`. */
static void take_members(struct grid* grid, const struct members* from, const int* map, int ld) {
  grid->members.count = grid->rows * grid->columns;
  grid->members.own = -1;
  for (int n = 0; n < grid->members.count; ++n) {
    const int place = map[n % grid->columns * ld + n / grid->columns];
    grid->members.process[n] = from->process[place];
    if (place == from->own) grid->members.own = n;
  }
  grid->row = grid->members.own < 0 ? -1 : grid->members.own / grid->columns;
  grid->column = grid->members.own < 0 ? -1 : grid->members.own % grid->columns;
}

static void make_in_order(uint64_t* random, struct grid* grid, const struct members* from) {
  static char* const orders[] = {"R", "r", "Row", "C", "c", "Column"};
  const uint32_t order = draw(random, 6);
  int map[kProcessesMost];
  for (int column = 0; column < grid->columns; ++column)
    for (int row = 0; row < grid->rows; ++row)
      map[column * grid->rows + row] =
          order < 3 ? row * grid->columns + column : column * grid->rows + row;
  take_members(grid, from, map, grid->rows);
  grid->calls->gridinit(&grid->context, orders[order], grid->rows, grid->columns);
}

static void make_by_map(uint64_t* random, struct grid* grid, const struct members* from) {
  int order[kProcessesMost], map[4 * kProcessesMost];
  for (int n = 0; n < from->count; ++n) order[n] = n;
  for (int n = from->count - 1; n > 0; --n) {
    const int other = (int)draw(random, (uint32_t)n + 1), kept = order[n];
    order[n] = order[other];
    order[other] = kept;
  }
  const int ld = grid->rows + (int)draw(random, 3);
  for (int n = 0; n < ld * grid->columns; ++n)
    map[n] = n % ld < grid->rows ? order[n / ld * grid->rows + n % ld] : kNeverRead;
  take_members(grid, from, map, ld);
  grid->calls->gridmap(&grid->context, map, ld, grid->rows, grid->columns);
}

void make_grid(struct grid* grid, uint64_t seed, const struct origins* origins,
               const struct grid* parent) {
  uint64_t random = seed;
  grid->calls = &grid_calls[draw(&random, kLanguages)];
  const struct members* const from =
      choose_handle(&random, grid->calls, origins, parent, &grid->context);
  choose_sides(&random, grid, from->count);
  if (draw(&random, 2) == 0)
    make_in_order(&random, grid, from);
  else
    make_by_map(&random, grid, from);
  if (grid->members.own < 0) CHECK(grid->context == -1);
}

void free_grid(struct grid* grid) {
  if (grid->members.own >= 0) grid->calls->gridexit(grid->context);
  int rows = 1, columns = 1, row = 1, column = 1;
  grid->calls->gridinfo(grid->context, &rows, &columns, &row, &column);
  CHECK(rows == -1 && columns == -1 && row == -1 && column == -1);
}

/* ---- the BLACS' answers -------------------------------------------------------------------- */

int number_in_grid(const struct grid* grid, int row, int column) {
  return row * grid->columns + column;
}

void check_grid(const struct grid* grid) {
  const struct grid_calls* const calls = grid->calls;
  int rows, columns, row, column;
  calls->gridinfo(grid->context, &rows, &columns, &row, &column);
  CHECK(row == grid->row && column == grid->column);
  if (grid->members.own < 0) {
    CHECK(rows == -1 && columns == -1);
    return;
  }
  CHECK(rows == grid->rows && columns == grid->columns);
  for (int r = -2; r < rows + 2; ++r)
    for (int c = -2; c < columns + 2; ++c) {
      const bool exists = r >= 0 && r < rows && c >= 0 && c < columns;
      const int number = calls->pnum(grid->context, r, c);
      CHECK(number == (exists ? number_in_grid(grid, r, c) : -1));
      if (!exists) continue;
      calls->pcoord(grid->context, number, &row, &column);
      CHECK(row == r && column == c);
    }
  calls->pcoord(grid->context, rows * columns, &row, &column);
  CHECK(row == -1 && column == -1);
  calls->pcoord(grid->context, -1, &row, &column);
  CHECK(row == -1 && column == -1);
}

void change_settings(const struct grid* grid, uint64_t seed) {
  uint64_t random = seed;
  for (int what = kFirstSetting; what <= kLastSetting; ++what) {
    const int first = what < 15 ? 1 : 0;
    int wanted = first + (int)draw(&random, 3 - (uint32_t)(what >= 15)), told = -1;
    grid->calls->set(grid->context, what, &wanted);
    grid->calls->get(grid->context, what, &told);
    CHECK(told == wanted);
  }
}
