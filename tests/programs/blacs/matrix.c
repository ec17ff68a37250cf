/* SPDX-License-Identifier: BSD-3-Clause */
#include "matrix.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../random_numbers.h"

enum { kGuardBytes = 64, kSmall = 40, kCanaries = 99 };

/* ---- failures ------------------------------------------------------------------------------ */

static char going_on[300] = "the beginning";

void now_going_on(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(going_on, sizeof going_on, format, arguments);
  va_end(arguments);
}

void fail(const char* format, ...) {
  char what[300];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  fprintf(stderr, "blacs_checks: %s: %s\n", going_on, what);
  _exit(1);
}

/* ---- parts --------------------------------------------------------------------------------- */

/* m * n items of at most `bytes`, one side short now and then. */
static void draw_long_sides(uint64_t* random, int items, int* m, int* n) {
  const int side = (int)draw(random, 6) == 0 ? 1 : 1 + (int)draw(random, 2000);
  const int short_side = side < items ? side : items;
  const int long_side = items / short_side;
  const bool is_tall = draw(random, 2) == 0;
  *m = is_tall ? long_side : short_side;
  *n = is_tall ? short_side : long_side;
}

bool is_mild;

struct part draw_part(uint64_t* random, bool is_trapezoid, size_t item_bytes, size_t bytes) {
  struct part part = {.is_trapezoid = is_trapezoid};
  const uint32_t kind = draw(random, 20);
  part.m = (int)draw(random, kSmall) + 1;
  part.n = (int)draw(random, kSmall) + 1;
  if (kind < 2) part.n = part.m;
  if (kind == 2) part.m = 0;
  if (kind == 3) part.n = 0;
  if (kind == 4) part.m = part.n = 1;
  if (kind > 16)
    draw_long_sides(random, 1 + (int)draw(random, (uint32_t)(bytes / item_bytes)), &part.m,
                    &part.n);
  if (is_mild && is_trapezoid && part.n == 0) part.n = 1;
  part.which = "uUlL"[draw(random, 4)];
  part.diagonal = "uUnN"[draw(random, 4)];
  return part;
}

int draw_lda(uint64_t* random, int m) {
  const int least = m > 0 ? m : 1;
  return draw(random, 3) == 0 ? least : least + (int)draw(random, 7);
}

bool is_in_part(const struct part* part, int row, int column) {
  if (!part->is_trapezoid) return true;
  const int beyond = part->m - part->n;
  const bool is_upper = part->which == 'u' || part->which == 'U';
  const bool has_diagonal = part->diagonal == 'n' || part->diagonal == 'N';
  /* Where the diagonal is in this column: it ends in a corner that is no end of the shorter side.
   */
  const int diagonal = column + (is_upper == (beyond > 0) ? beyond : 0);
  if (row == diagonal) return has_diagonal;
  return is_upper == (row < diagonal);
}

/* ---- matrices ------------------------------------------------------------------------------ */

struct matrix make_matrix(const struct part* part, int lda, size_t item_bytes) {
  struct matrix matrix = {.part = *part, .lda = lda, .item_bytes = item_bytes};
  matrix.bytes =
      (size_t)lda * (size_t)(part->n > 0 ? part->n : 1) * item_bytes + 2 * (size_t)kGuardBytes;
  matrix.memory = malloc(matrix.bytes);
  if (matrix.memory == NULL) fail("no memory");
  matrix.first = matrix.memory + kGuardBytes;
  fill(kCanaries, matrix.memory, matrix.bytes);
  return matrix;
}

void free_matrix(struct matrix* matrix) {
  free(matrix->memory);
  matrix->memory = NULL;
}

void* item_at(const struct matrix* matrix, int row, int column) {
  const size_t number = (size_t)column * (size_t)matrix->lda + (size_t)row;
  return matrix->first + number * matrix->item_bytes;
}

void put_items(struct matrix* matrix, uint64_t seed) {
  for (int column = 0; column < matrix->part.n; ++column)
    for (int row = 0; row < matrix->part.m; ++row) {
      if (!is_in_part(&matrix->part, row, column)) continue;
      const uint64_t word = mixed(seed, (uint64_t)column << 32 | (uint64_t)row);
      const uint64_t words[2] = {word, ~word};
      memcpy(item_at(matrix, row, column), words, matrix->item_bytes);
    }
}

void check_same(const struct matrix* got, const struct matrix* wanted) {
  if (memcmp(got->memory, wanted->memory, got->bytes) == 0) return;
  size_t n = 0;
  while (got->memory[n] == wanted->memory[n]) ++n;
  const ptrdiff_t number = ((ptrdiff_t)n - kGuardBytes) / (ptrdiff_t)got->item_bytes;
  fail("%d x %d items of %zu bytes, lda %d%s%c%c: item %td (row %td, column %td) is wrong",
       got->part.m, got->part.n, got->item_bytes, got->lda,
       got->part.is_trapezoid ? ", trapezoid " : ", rectangle, not ", got->part.which,
       got->part.diagonal, number, number % got->lda, number / got->lda);
}

void check_surroundings(const struct matrix* got) {
  struct matrix wanted = make_matrix(&got->part, got->lda, got->item_bytes);
  for (int column = 0; column < got->part.n; ++column)
    for (int row = 0; row < got->part.m; ++row)
      if (is_in_part(&got->part, row, column))
        memcpy(item_at(&wanted, row, column), item_at(got, row, column), got->item_bytes);
  check_same(got, &wanted);
  free_matrix(&wanted);
}
