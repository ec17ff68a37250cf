/* SPDX-License-Identifier: BSD-3-Clause */
/* grids.h - random grids: by gridinit and gridmap, from all processes, from those of a communicator
 * and from those of another grid; and the BLACS' answers about them. */
#ifndef NAGAYA_TESTS_BLACS_GRIDS_H
#define NAGAYA_TESTS_BLACS_GRIDS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "calls.h"

enum { kProcessesMost = 64 };

/* Processes of MPI_COMM_WORLD in an order. */
struct members {
  int count, own; /* own: the caller, among them; or -1 */
  int process[kProcessesMost];
};

struct grid {
  int context; /* -1: the caller is not in it */
  int rows, columns, row, column;
  struct members members; /* row by row */
  const struct grid_calls* calls;
};

/* The origins of grids; made once. */
struct origins {
  struct members all, half; /* every second process, the last one first: one half or the other */
  MPI_Comm half_comm;
};
void make_origins(struct origins* origins);
void free_origins(struct origins* origins);

/* Makes a grid of processes of `parent`, all of which call it; of all processes if `parent` is
 * NULL. The caller may be in no grid of this number. */
void make_grid(struct grid* grid, uint64_t seed, const struct origins* origins,
               const struct grid* parent);
void check_grid(const struct grid* grid);
void free_grid(struct grid* grid);
/* Rings, branches, repeatability, coherence: other ones, which are told again. */
void change_settings(const struct grid* grid, uint64_t seed);

int number_in_grid(const struct grid* grid, int row, int column);

#endif
