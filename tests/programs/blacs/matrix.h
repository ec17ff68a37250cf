/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.h - a part of a matrix, in memory that is full of canaries: in front of it, behind it, and
 * wherever the part is not.
 *
 *   | canaries | column 0: m items | lda - m canaries | column 1 ... | canaries |
 */
#ifndef NAGAYA_TESTS_BLACS_MATRIX_H
#define NAGAYA_TESTS_BLACS_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct part {
  int m, n;
  bool is_trapezoid;
  char which, diagonal; /* of a trapezoid: u or l; u (without it) or n; either case */
};

/* Draw nothing that the reference BLACS do wrongly: they write behind a buffer of theirs for
 * trapezoids without columns. */
extern bool is_mild;

/* Sizes and letters. At most `bytes` of items. */
struct part draw_part(uint64_t* random, bool is_trapezoid, size_t item_bytes, size_t bytes);
int draw_lda(uint64_t* random, int m);
bool is_in_part(const struct part* part, int row, int column);

struct matrix {
  struct part part;
  int lda;
  size_t item_bytes, bytes; /* of an item; of the memory */
  unsigned char *memory, *first;
};

/* All canaries, the same in all matrices of this shape. */
struct matrix make_matrix(const struct part* part, int lda, size_t item_bytes);
void free_matrix(struct matrix* matrix);
void* item_at(const struct matrix* matrix, int row, int column);

/* The items that a process sends, and others expect: of a seed. */
void put_items(struct matrix* matrix, uint64_t seed);

/* The job ends if a byte of them differs: with the text of now_going_on(). */
void check_same(const struct matrix* got, const struct matrix* wanted);
/* Checks as check_same(), but the items of the part may be anything. */
void check_surroundings(const struct matrix* got);

/* For the line that is printed when something is wrong. */
void now_going_on(const char* format, ...) __attribute__((format(printf, 1, 2)));
void fail(const char* format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
