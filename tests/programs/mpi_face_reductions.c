/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_face_reductions.c - each predefined operation on each predefined datatype, against
 * MPI_Reduce_local, which never leaves the process. Knows nothing of Nagaya. mpi_face_reductions
 * SEED
 *
 * Every rank makes the elements of all ranks from the seed. Numbers are small, so that the sums and
 * products of floating point are exact, whatever the order. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "random_numbers.h"

enum { kRanksMost = 16 };

enum class_of_type { kInteger, kUnsigned, kReal, kComplex, kLogical, kByte, kPair };

struct type {
  MPI_Datatype type;
  enum class_of_type is;
  int bytes;       /* of a number; of a pair's value */
  int index_bytes; /* of a pair's index */
  int index_at;
  int is_real; /* a pair's value is */
};

#define PAIR(type, value, index, is_real)      \
  {                                            \
    type, kPair, sizeof(value), sizeof(index), \
        offsetof(                              \
            struct {                           \
              value v;                         \
              index i;                         \
            },                                 \
            i),                                \
        is_real                                \
  }
static const struct type kTypes[] = {
    {MPI_SIGNED_CHAR, kInteger, 1},
    {MPI_UNSIGNED_CHAR, kUnsigned, 1},
    {MPI_SHORT, kInteger, 2},
    {MPI_UNSIGNED_SHORT, kUnsigned, 2},
    {MPI_INT, kInteger, 4},
    {MPI_UNSIGNED, kUnsigned, 4},
    {MPI_LONG, kInteger, 8},
    {MPI_UNSIGNED_LONG, kUnsigned, 8},
    {MPI_LONG_LONG, kInteger, 8},
    {MPI_UNSIGNED_LONG_LONG, kUnsigned, 8},
    {MPI_INT8_T, kInteger, 1},
    {MPI_INT16_T, kInteger, 2},
    {MPI_INT32_T, kInteger, 4},
    {MPI_INT64_T, kInteger, 8},
    {MPI_UINT8_T, kUnsigned, 1},
    {MPI_UINT16_T, kUnsigned, 2},
    {MPI_UINT32_T, kUnsigned, 4},
    {MPI_UINT64_T, kUnsigned, 8},
    {MPI_AINT, kInteger, 8},
    {MPI_OFFSET, kInteger, 8},
    {MPI_COUNT, kInteger, 8},
    {MPI_INTEGER, kInteger, 4},
    {MPI_FLOAT, kReal, 4},
    {MPI_DOUBLE, kReal, 8},
    {MPI_LONG_DOUBLE, kReal, 16},
    {MPI_REAL, kReal, 4},
    {MPI_DOUBLE_PRECISION, kReal, 8},
    {MPI_C_FLOAT_COMPLEX, kComplex, 4},
    {MPI_C_DOUBLE_COMPLEX, kComplex, 8},
    {MPI_C_LONG_DOUBLE_COMPLEX, kComplex, 16},
    {MPI_COMPLEX, kComplex, 4},
    {MPI_DOUBLE_COMPLEX, kComplex, 8},
    {MPI_C_BOOL, kLogical, 1},
    {MPI_LOGICAL, kLogical, 4},
    {MPI_BYTE, kByte, 1},
    PAIR(MPI_FLOAT_INT, float, int, 1),
    PAIR(MPI_DOUBLE_INT, double, int, 1),
    PAIR(MPI_LONG_INT, long, int, 0),
    PAIR(MPI_2INT, int, int, 0),
    PAIR(MPI_SHORT_INT, short, int, 0),
    PAIR(MPI_LONG_DOUBLE_INT, long double, int, 1),
    PAIR(MPI_2INTEGER, int, int, 0),
};

struct op {
  MPI_Op op;
  unsigned classes; /* a bit for each class_of_type */
};
#define BIT(is) (1u << (is))
enum { kIntegers = BIT(kInteger) | BIT(kUnsigned) };
static const struct op kOps[] = {
    {MPI_MAX, kIntegers | BIT(kReal)},
    {MPI_MIN, kIntegers | BIT(kReal)},
    {MPI_SUM, kIntegers | BIT(kReal) | BIT(kComplex)},
    {MPI_PROD, kIntegers | BIT(kReal) | BIT(kComplex)},
    {MPI_LAND, kIntegers | BIT(kLogical)},
    {MPI_LOR, kIntegers | BIT(kLogical)},
    {MPI_LXOR, kIntegers | BIT(kLogical)},
    {MPI_BAND, kIntegers | BIT(kByte)},
    {MPI_BOR, kIntegers | BIT(kByte)},
    {MPI_BXOR, kIntegers | BIT(kByte)},
    {MPI_MAXLOC, BIT(kPair)},
    {MPI_MINLOC, BIT(kPair)},
};

static uint64_t next_random(uint64_t* state) {
  return *state = mixed(*state, 1);
}

static void store_real(unsigned char* to, int bytes, long long number) {
  const float f = (float)number;
  const double d = (double)number;
  const long double l = (long double)number;
  if (bytes == 4) memcpy(to, &f, 4);
  if (bytes == 8) memcpy(to, &d, 8);
  if (bytes == 16) memcpy(to, &l, 10); /* the rest is padding */
}

static void store_element(const struct type* type, unsigned char* to, uint64_t* random) {
  const uint64_t number = next_random(random);
  const long long small = (long long)(number % 3) - 1;
  switch (type->is) {
    case kReal:
      return store_real(to, type->bytes, small);
    case kComplex:
      store_real(to, type->bytes, small);
      return store_real(to + type->bytes, type->bytes, (long long)(number / 3 % 3) - 1);
    case kLogical:
      *to = number % 2;
      return;
    case kPair: {
      const int index = (int)(number / 3 % 100);
      type->is_real ? store_real(to, type->bytes, small)
                    : (void)memcpy(to, &small, (size_t)type->bytes);
      memcpy(to + type->index_at, &index, (size_t)type->index_bytes);
      return;
    }
    default: /* all bits; or few, so that a logical operation has something to decide */
      memcpy(to, number % 4 != 0 ? &number : &(uint64_t){number / 4 % 2}, (size_t)type->bytes);
      /* MPICH 4.0 takes unsigned numbers for signed ones where it looks for the largest. */
      if (type->is == kUnsigned) to[type->bytes - 1] &= 0x7f;
  }
}

/* The elements of one rank. Bytes between them are the same everywhere. */
static void fill_elements(const struct type* type, unsigned char* to, size_t extent, int count,
                          uint64_t seed, int rank) {
  uint64_t random = seed * 1000 + (uint64_t)rank;
  memset(to, 0x5a, extent * (size_t)count);
  for (int n = 0; n < count; ++n) {
    if (type->is != kPair) memset(to + extent * (size_t)n, 0, extent);
    store_element(type, to + extent * (size_t)n, &random);
  }
}

static void check(const struct type* type, MPI_Op op, int count, uint64_t seed, MPI_Comm comm) {
  int rank, size;
  MPI_Aint lower, extent;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Type_get_extent(type->type, &lower, &extent);
  const size_t bytes = (size_t)extent * (size_t)count;
  unsigned char *own = malloc(bytes + 1), *expected = malloc(bytes + 1), *other = malloc(bytes + 1),
                *result = malloc(bytes + 1), *in_place = malloc(bytes + 1);
  fill_elements(type, own, (size_t)extent, count, seed, rank);
  fill_elements(type, expected, (size_t)extent, count, seed, size - 1);
  for (int r = size - 2; r >= 0; --r) {
    fill_elements(type, other, (size_t)extent, count, seed, r);
    MPI_Reduce_local(other, expected, count, type->type, op);
  }
  memset(result, 0x5a, bytes);
  if (type->bytes == 16 && type->is != kPair) memset(result, 0, bytes);
  memcpy(in_place, own, bytes);
  MPI_Allreduce(own, result, count, type->type, op, comm);
  MPI_Allreduce(MPI_IN_PLACE, in_place, count, type->type, op, comm);
  for (size_t n = 0; n < bytes; ++n) {
    const size_t in_number = n % (size_t)extent % (type->bytes == 16 ? 16 : SIZE_MAX);
    if (type->bytes == 16 && in_number >= 10) continue; /* padding of long double */
    EXPECT_EQUAL(result[n], expected[n]);
    EXPECT_EQUAL(in_place[n], expected[n]);
  }
  free(own);
  free(expected);
  free(other);
  free(result);
  free(in_place);
}

int main(int argc, char** argv) {
  int rank, size, checked = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  uint64_t random = (uint64_t)atoll(argv[1]);
  for (size_t t = 0; t < sizeof kTypes / sizeof *kTypes; ++t)
    for (size_t o = 0; o < sizeof kOps / sizeof *kOps; ++o) {
      if ((kOps[o].classes & BIT(kTypes[t].is)) == 0) continue;
      const int counts[] = {1, (int)(next_random(&random) % 40),
                            (int)(next_random(&random) % 3000)};
      for (int n = 0; n < 3; ++n)
        check(&kTypes[t], kOps[o].op, counts[n], next_random(&random), MPI_COMM_WORLD);
      ++checked;
    }
  if (rank == 0) printf("%d pairs among %d\n", checked, size);
  MPI_Finalize();
  return 0;
}
