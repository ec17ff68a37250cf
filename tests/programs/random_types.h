/* SPDX-License-Identifier: BSD-3-Clause */
/* random_types.h - random derived types by all functions that make some. */
#ifndef NAGAYA_TESTS_RANDOM_TYPES_H
#define NAGAYA_TESTS_RANDOM_TYPES_H

#include <mpi.h>
#include <stdint.h>

/* Returns a type of up to `depth` functions, whose data lie within 100,000 bytes of its address. */
MPI_Datatype draw_type(uint64_t* state, int depth);
/* Frees a type of draw_type(), which may be a predefined one. */
void free_type(MPI_Datatype* type);
/* How many functions have been used. */
int combiners_drawn(void);

#endif
