/* SPDX-License-Identifier: BSD-3-Clause */
#include "reference.h"

#include <stdlib.h>

#include "../random_numbers.h"

static bool is_complex(char type) {
  return type == 'c' || type == 'z';
}

struct number number_of(const struct combine* combine, int process, int row, int column) {
  const uint64_t place = (uint64_t)process << 48 | (uint64_t)column << 24 | (uint64_t)row;
  uint64_t random = mixed(combine->seed, place);
  const int range = draw(&random, 2) == 0 ? 3 : 50;
  struct number number = {(int)draw(&random, 2 * (uint32_t)range + 1) - range, 0};
  if (is_complex(combine->type)) number.imaginary = (int)draw(&random, 7) - 3;
  return number;
}

static int distance_from_0(struct number number) {
  return abs(number.real) + abs(number.imaginary);
}

static bool is_greater(struct number a, struct number b) {
  return a.real != b.real ? a.real > b.real : a.imaginary > b.imaginary;
}

struct number result_of(const struct combine* combine, int row, int column, int* process) {
  *process = combine->first;
  struct number result = number_of(combine, combine->first, row, column);
  for (int n = 1; n < combine->size; ++n) {
    const int next = (combine->first + n) % combine->size;
    const struct number number = number_of(combine, next, row, column);
    if (combine->what == kSum) {
      result.real += number.real;
      result.imaginary += number.imaginary;
      continue;
    }
    const int further = distance_from_0(number) - distance_from_0(result);
    const bool is_tie = further == 0 && !combine->has_origins && is_greater(number, result);
    if (is_tie || (combine->what == kGreatest ? further > 0 : further < 0)) {
      result = number;
      *process = next;
    }
  }
  return result;
}

void store_number(char type, struct number number, void* to) {
  switch (type) {
    case 'i':
      *(int*)to = number.real;
      break;
    case 's':
    case 'c':
      ((float*)to)[0] = (float)number.real;
      if (type == 'c') ((float*)to)[1] = (float)number.imaginary;
      break;
    default:
      ((double*)to)[0] = number.real;
      if (type == 'z') ((double*)to)[1] = number.imaginary;
  }
}
