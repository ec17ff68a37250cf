/* SPDX-License-Identifier: BSD-3-Clause */
#include "random_types.h"

#include <stdlib.h>

#include "random_numbers.h"

enum { kMostBlocks = 12, kMostDimensions = 3, kReach = 100000, kMostBytes = 20000 };

static int below(uint64_t* state, int most) {
  return (int)draw(state, (uint32_t)most);
}
static int between(uint64_t* state, int least, int most) {
  return least + below(state, most - least + 1);
}

/* ---- predefined types ---------------------------------------------------------------------- */

static MPI_Datatype predefined(uint64_t* state) {
  const MPI_Datatype all[] = {
      MPI_CHAR,      MPI_SHORT,      MPI_INT,       MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX,
      MPI_SHORT_INT, MPI_DOUBLE_INT, MPI_FLOAT_INT, MPI_2INT,   MPI_LONG_DOUBLE_INT};
  const int count = (int)(sizeof all / sizeof *all), n = below(state, count + 3);
  MPI_Datatype type;
  if (n < count) return all[n];
  if (n == count) MPI_Type_create_f90_real(6, MPI_UNDEFINED, &type);
  if (n == count + 1) MPI_Type_create_f90_complex(12, MPI_UNDEFINED, &type);
  if (n == count + 2) MPI_Type_create_f90_integer(4, &type);
  return type;
}

/* MPICH tells the combiner of a type that was made with MPI_Count only by the function with
 * MPI_Count. */
static int combiner_of(MPI_Datatype type) {
  int combiner;
#if MPI_VERSION >= 4
  MPI_Count arguments[4];
  MPI_Type_get_envelope_c(type, &arguments[0], &arguments[1], &arguments[2], &arguments[3],
                          &combiner);
#else
  int arguments[3];
  MPI_Type_get_envelope(type, &arguments[0], &arguments[1], &arguments[2], &combiner);
#endif
  return combiner;
}

void free_type(MPI_Datatype* type) {
  const int combiner = combiner_of(*type);
  if (combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL &&
      combiner != MPI_COMBINER_F90_COMPLEX && combiner != MPI_COMBINER_F90_INTEGER)
    MPI_Type_free(type);
}

/* ---- functions that make types ------------------------------------------------------------- */

static MPI_Datatype contiguous(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type;
  MPI_Type_contiguous(below(state, 6), old, &type);
  return type;
}

static MPI_Datatype duplicate(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type;
  (void)state;
  MPI_Type_dup(old, &type);
  return type;
}

/* Returns at least 1: elements with a negative extent go on by it in MPI_Pack of MPICH 4.0, also in
 * a contiguous type of several, whose own extent is another one. */
static int changed_extent(uint64_t* state, MPI_Datatype old) {
  MPI_Aint lower, extent;
  MPI_Type_get_extent(old, &lower, &extent);
  const int changed = (int)extent + between(state, -20, 40);
  return changed > 1 ? changed : 1;
}

static MPI_Datatype resized(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type;
  MPI_Aint lower, extent;
  MPI_Type_get_extent(old, &lower, &extent);
  MPI_Type_create_resized(old, lower + between(state, -9, 9), changed_extent(state, old), &type);
  return type;
}

static MPI_Datatype vector(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type;
  const int count = below(state, 7), length = below(state, 4);
  MPI_Type_vector(count, length, between(state, -5, 7), old, &type);
  return type;
}

static MPI_Datatype hvector(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type;
  const int count = below(state, 7), length = below(state, 4);
  MPI_Type_create_hvector(count, length, between(state, -300, 500), old, &type);
  return type;
}

typedef struct blocks_t {
  int count, lengths[kMostBlocks], places[kMostBlocks];
  MPI_Aint addresses[kMostBlocks];
} blocks_t;

static blocks_t draw_blocks(uint64_t* state) {
  blocks_t all = {.count = below(state, kMostBlocks + 1)};
  const int step = between(state, 2, 6);
  for (int n = 0; n < all.count; ++n) {
    all.lengths[n] = below(state, 4);
    all.places[n] = step * n + between(state, -1, 1);
    all.addresses[n] = 64 * step * n + between(state, -40, 40);
  }
  return all;
}

static MPI_Datatype indexed(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type;
  const blocks_t all = draw_blocks(state);
  MPI_Type_indexed(all.count, all.lengths, all.places, old, &type);
  return type;
}

static MPI_Datatype hindexed(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type;
  const blocks_t all = draw_blocks(state);
  MPI_Type_create_hindexed(all.count, all.lengths, all.addresses, old, &type);
  return type;
}

static MPI_Datatype indexed_block(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type;
  const blocks_t all = draw_blocks(state);
  MPI_Type_create_indexed_block(all.count, below(state, 3), all.places, old, &type);
  return type;
}

static MPI_Datatype hindexed_block(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type;
  const blocks_t all = draw_blocks(state);
  MPI_Type_create_hindexed_block(all.count, below(state, 3), all.addresses, old, &type);
  return type;
}

/* Its old types: `old` and some predefined ones. */
static MPI_Datatype structure(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type, types[kMostBlocks];
  const blocks_t all = draw_blocks(state);
  for (int n = 0; n < all.count; ++n) types[n] = below(state, 2) == 0 ? old : predefined(state);
  MPI_Type_create_struct(all.count, all.lengths, all.addresses, types, &type);
  return type;
}

/* ---- boxes --------------------------------------------------------------------------------- */

static int draw_order(uint64_t* state) {
  return below(state, 2) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
}

static MPI_Datatype subarray(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type;
  int sizes[kMostDimensions], parts[kMostDimensions], starts[kMostDimensions];
  const int dimensions = between(state, 1, kMostDimensions);
  for (int n = 0; n < dimensions; ++n) {
    sizes[n] = between(state, 1, 6);
    parts[n] = between(state, 1, sizes[n]);
    starts[n] = below(state, sizes[n] - parts[n] + 1);
  }
  MPI_Type_create_subarray(dimensions, sizes, parts, starts, draw_order(state), old, &type);
  return type;
}

typedef struct darray_t {
  int ranks, dimensions, sizes[kMostDimensions], ways[kMostDimensions], arguments[kMostDimensions],
      processes[kMostDimensions];
} darray_t;

static darray_t draw_darray(uint64_t* state) {
  const int ways[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
  darray_t all = {.ranks = 1, .dimensions = between(state, 1, kMostDimensions)};
  for (int n = 0; n < all.dimensions; ++n) {
    all.sizes[n] = between(state, 1, 7);
    all.ways[n] = ways[below(state, 3)];
    all.processes[n] = all.ways[n] == MPI_DISTRIBUTE_NONE ? 1 : between(state, 1, 3);
    all.arguments[n] = MPI_DISTRIBUTE_DFLT_DARG;
    const int least = (all.sizes[n] + all.processes[n] - 1) / all.processes[n];
    if (below(state, 2) == 0 && all.ways[n] == MPI_DISTRIBUTE_BLOCK)
      all.arguments[n] = least + below(state, 2);
    if (below(state, 2) == 0 && all.ways[n] == MPI_DISTRIBUTE_CYCLIC)
      all.arguments[n] = between(state, 1, 3);
    all.ranks *= all.processes[n];
  }
  return all;
}

static MPI_Datatype darray(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type;
  const darray_t all = draw_darray(state);
  MPI_Type_create_darray(all.ranks, below(state, all.ranks), all.dimensions, all.sizes, all.ways,
                         all.arguments, all.processes, draw_order(state), old, &type);
  return type;
}

/* ---- the functions with MPI_Count ---------------------------------------------------------- */

#if MPI_VERSION >= 4
static void widen(const int* from, MPI_Count* to, int count) {
  for (int n = 0; n < count; ++n) to[n] = from[n];
}

static MPI_Datatype contiguous_c(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type;
  MPI_Type_contiguous_c(below(state, 6), old, &type);
  return type;
}

static MPI_Datatype vector_c(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type;
  const int count = below(state, 7), length = below(state, 4);
  if (below(state, 2) == 0)
    MPI_Type_vector_c(count, length, between(state, -5, 7), old, &type);
  else
    MPI_Type_create_hvector_c(count, length, between(state, -300, 500), old, &type);
  return type;
}

static MPI_Datatype resized_c(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type;
  MPI_Count lower, extent;
  MPI_Type_get_extent_c(old, &lower, &extent);
  MPI_Type_create_resized_c(old, lower + between(state, -9, 9), changed_extent(state, old), &type);
  return type;
}

/* All functions of blocks. */
static MPI_Datatype blocks_c(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type, types[kMostBlocks];
  MPI_Count lengths[kMostBlocks], places[kMostBlocks], addresses[kMostBlocks];
  const blocks_t all = draw_blocks(state);
  widen(all.lengths, lengths, all.count);
  widen(all.places, places, all.count);
  for (int n = 0; n < all.count; ++n) {
    addresses[n] = all.addresses[n];
    types[n] = below(state, 2) == 0 ? old : predefined(state);
  }
  switch (below(state, 5)) {
    case 0:
      MPI_Type_indexed_c(all.count, lengths, places, old, &type);
      break;
    case 1:
      MPI_Type_create_hindexed_c(all.count, lengths, addresses, old, &type);
      break;
    case 2:
      MPI_Type_create_indexed_block_c(all.count, below(state, 3), places, old, &type);
      break;
    case 3:
      MPI_Type_create_hindexed_block_c(all.count, below(state, 3), addresses, old, &type);
      break;
    default:
      MPI_Type_create_struct_c(all.count, lengths, addresses, types, &type);
  }
  return type;
}

static MPI_Datatype box_c(uint64_t* state, MPI_Datatype old) {
  MPI_Datatype type;
  MPI_Count sizes[kMostDimensions], parts[kMostDimensions], starts[kMostDimensions];
  const darray_t all = draw_darray(state);
  widen(all.sizes, sizes, all.dimensions);
  if (below(state, 2) == 0) {
    MPI_Type_create_darray_c(all.ranks, below(state, all.ranks), all.dimensions, sizes, all.ways,
                             all.arguments, all.processes, draw_order(state), old, &type);
    return type;
  }
  for (int n = 0; n < all.dimensions; ++n) {
    parts[n] = between(state, 1, all.sizes[n]);
    starts[n] = below(state, all.sizes[n] - (int)parts[n] + 1);
  }
  MPI_Type_create_subarray_c(all.dimensions, sizes, parts, starts, draw_order(state), old, &type);
  return type;
}
#endif

/* ---- drawing ------------------------------------------------------------------------------- */

typedef MPI_Datatype make_t(uint64_t* state, MPI_Datatype old);

static make_t* const kMakers[] = {
    contiguous,   duplicate,     resized,        vector,    hvector,  indexed,
    hindexed,     indexed_block, hindexed_block, structure, subarray, darray,
#if MPI_VERSION >= 4
    contiguous_c, vector_c,      resized_c,      blocks_c,  box_c,
#endif
};
enum { kMakerCount = sizeof kMakers / sizeof *kMakers };

static int is_drawn[kMakerCount];

int combiners_drawn(void) {
  int drawn = 0;
  for (int n = 0; n < kMakerCount; ++n) drawn += is_drawn[n];
  return drawn;
}

/* MPI_Pack of MPICH 4.0 divides by the size of an old type. */
static int is_unfit(MPI_Datatype type) {
  MPI_Aint lower, extent, first, span;
  int bytes;
  MPI_Type_size(type, &bytes);
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &first, &span);
  return labs(first) > kReach || span > kReach || labs(extent) > kReach || labs(lower) > kReach ||
         bytes == 0 || bytes > kMostBytes;
}

MPI_Datatype draw_type(uint64_t* state, int depth) {
  if (depth == 0) return predefined(state);
  MPI_Datatype old = draw_type(state, depth - below(state, 2) - 1 > 0 ? depth - 1 : 0);
  for (;;) {
    const int n = below(state, kMakerCount);
    MPI_Datatype type = kMakers[n](state, old);
    is_drawn[n] = 1;
    if (!is_unfit(type)) {
      free_type(&old);
      return type;
    }
    MPI_Type_free(&type);
  }
}
