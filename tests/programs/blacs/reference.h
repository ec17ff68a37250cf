/* SPDX-License-Identifier: BSD-3-Clause */
/* reference.h - the sums and extremes of several processes' matrices, one after the other. */
#ifndef NAGAYA_TESTS_BLACS_REFERENCE_H
#define NAGAYA_TESTS_BLACS_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "matrix.h"

enum combining { kSum, kGreatest, kLeast, kCombinings };

/* Whole numbers, few and small: their sums are exact in each type, and many are equally far from
 * 0. */
struct number {
  int real, imaginary;
};

struct combine {
  enum combining what;
  char type; /* i, s, d, c, z */
  uint64_t seed;
  int size;  /* of the scope */
  int first; /* of processes with the same absolute value it is the first, then those behind it */
  bool has_origins;
};

/* The number that the process gives. */
struct number number_of(const struct combine* combine, int process, int row, int column);
/* The result; and of which process, if `combine` has origins. */
struct number result_of(const struct combine* combine, int row, int column, int* process);

void store_number(char type, struct number number, void* to);

#endif
