/* SPDX-License-Identifier: BSD-3-Clause */
/* operations.h - random operations of the processes of a grid, each checked at each process. All
 * that they must agree on comes from `seed`, which all of the grid give alike. */
#ifndef NAGAYA_TESTS_BLACS_OPERATIONS_H
#define NAGAYA_TESTS_BLACS_OPERATIONS_H

#include "grids.h"

/* Each process sends to one and receives from one: itself, its neighbour, any. Several messages
 * before the first is received, or by turns. At most `bytes` each. */
void exchange(const struct grid* grid, uint64_t seed, size_t bytes);
/* In each row, in each column, or among all. */
void broadcast(const struct grid* grid, uint64_t seed, size_t bytes);
void combine(const struct grid* grid, uint64_t seed, size_t bytes);
void barrier(const struct grid* grid, uint64_t seed);

#endif
