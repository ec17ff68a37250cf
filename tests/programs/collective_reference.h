/* SPDX-License-Identifier: BSD-3-Clause */
/* collective_reference.h - the data of mpi_collectives.c: how the items of each MPI datatype lie in
 * memory, the operands of each rank, and the result of a reduction of them, without any help of
 * MPI.
 *
 *   layout     where the bytes of one item lie                     | .. 0123 .. 4567 ...... |
 *   family     layouts of the same base type: each of them may stand at the sender and at the
 *              receiver, if both sides have the same number of units
 *   operand    a datatype and an operation that reduces its items */
#ifndef NAGAYA_TESTS_COLLECTIVE_REFERENCE_H
#define NAGAYA_TESTS_COLLECTIVE_REFERENCE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random_numbers.h"

enum { kPiecesMost = 8, kLayoutsMost = 9, kFamilies = 7, kFieldsMost = 4 };

enum number { kSigned, kUnsigned, kReal };

struct piece {
  int offset, bytes;
  enum number number; /* of an operand, whose pieces are one number each */
};

struct layout {
  MPI_Datatype type;
  int units; /* of its family, in one item */
  int pieces;
  struct piece piece[kPiecesMost]; /* in the order of the type's signature */
  int bytes;                       /* of all pieces */
  ptrdiff_t extent;
  ptrdiff_t low, high; /* the first byte of an item's pieces, and the first behind the last */
  int most;            /* a buffer has at most so many items: more would overlap each other */
};

struct family {
  const char* name;
  int unit_bytes;
  int count;
  struct layout layout[kLayoutsMost];
};

enum rule {
  kSum,
  kProd,
  kMin,
  kMax,
  kBand,
  kBor,
  kBxor,
  kLand,
  kLor,
  kLxor,
  kMaxloc,
  kMinloc,
  kModularSum, /* the user's from here on */
  kCompose,    /* of maps x -> a x + b modulo a prime: does not commute */
  kMatrix,     /* product of 2x2 matrices modulo a prime: does not commute */
  kRules
};

struct operand {
  const char* name;
  struct layout layout;
  enum rule rule;
  MPI_Op op;
};

const char* rule_name(enum rule rule);

struct element {
  long long field[kFieldsMost]; /* one for each piece */
};

/* ---- layouts, families, operands ----------------------------------------------------------- */

void make_reference(void);
void free_reference(void);
const struct family* family_of(uint32_t number); /* any number */
/* Half of the numbers mean an operation of the user. */
const struct operand* operand_of(uint32_t number);

bool is_of_user(const struct operand* operand);
/* Another operation that does the same as the user's. */
MPI_Op copy_op(const struct operand* operand);

/* Packed bytes to the pieces of `items` items. */
void spread(const struct layout* layout, const unsigned char* packed, unsigned char* to, int items);

/* ---- reductions ---------------------------------------------------------------------------- */

/* Element `n` of a rank. `size`: how many ranks will be reduced. */
struct element value_of(const struct operand* operand, uint64_t seed, int rank, int n, int size);
struct element load(const struct layout* layout, const unsigned char* item);
void store(const struct layout* layout, const struct element* element, unsigned char* item);
/* left = left op right; the left is of the lower ranks. */
void reduce_into(enum rule rule, struct element* left, const struct element* right);

#endif
