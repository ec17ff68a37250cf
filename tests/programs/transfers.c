/* SPDX-License-Identifier: BSD-3-Clause */
/* transfers.c ROUNDS [SEED] - random assignments between sections, by nagaya/array.h: any two
 * distributions, onto all processes or some of them, with copies, or variables of each process;
 * sections with any steps, single indexes, one element to many; an array to itself. Each process
 * checks all of its elements by their indexes. */
#include <nagaya/array.h>
#include <nagaya/comm.h>
#include <nagaya/match.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { DIMENSIONS_MAX = 3, EXTENT_MAX = 11, PROCESSES_MAX = 64, UNTOUCHED = -1 };

typedef struct Place {
  nagaya_array_dimension dimension[DIMENSIONS_MAX];
  nagaya_array_triplet section[DIMENSIONS_MAX];
  int64_t begin[DIMENSIONS_MAX][PROCESSES_MAX + 1];
  nagaya_array_shape shape;
  nagaya_array_grid grid;
  uint32_t grid_extent[DIMENSIONS_MAX];
  uint32_t members; /* the first ones lie on the grid; 0: each process has a variable */
  nagaya_processes* processes;
  nagaya_array* array;
  int64_t variable[EXTENT_MAX * EXTENT_MAX * EXTENT_MAX];
  nagaya_array_side side;
} Place;

static nagaya_process all[PROCESSES_MAX];
static uint32_t rank, size;
static uint64_t state, names = 1;

/* Returns a number below `end`, at every process the same. */
static int64_t some(int64_t end) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)(state >> 33) % end;
}

static nagaya_processes* first_of(uint32_t count) {
  nagaya_processes* processes;
  EXPECT_EQUAL(
      nagaya_processes_open(all, count, rank < count ? rank : NAGAYA_NOT_A_MEMBER, &processes), 0);
  return processes;
}

static nagaya_distribution some_distribution(int64_t low, int64_t indexes, uint32_t coordinates,
                                             int64_t* begin) {
  const int64_t high = low + indexes - 1;
  nagaya_distribution of = {low, high, 1 + some(3), coordinates, NAGAYA_DISTRIBUTION_CYCLIC, NULL};
  const int64_t kind = some(3);
  if (kind == 0) {
    of.kind = NAGAYA_DISTRIBUTION_BLOCK;
    of.width = nagaya_distribution_width(low, high, coordinates) + some(2);
  } else if (kind == 1) {
    of.kind = NAGAYA_DISTRIBUTION_GENERAL;
    of.begin = begin;
    begin[0] = low;
    for (uint32_t c = 1; c < coordinates; ++c)
      begin[c] = begin[c - 1] + some(high + 2 - begin[c - 1]);
    begin[coordinates] = high + 1;
  }
  return of;
}

/* Lays the dimensions on the grid, whose extents it chooses: their product is `members`. */
static void lay_on_grid(Place* place, uint32_t dimensions) {
  uint32_t left = place->members;
  for (uint32_t g = 0; g < dimensions; ++g) {
    uint32_t extent = g + 1 == dimensions ? left : 1 + (uint32_t)some(left);
    while (left % extent != 0) --extent;
    place->grid_extent[g] = extent;
    left /= extent;
  }
  for (uint32_t d = 0; d < dimensions; ++d) {
    nagaya_array_dimension* of = &place->dimension[d];
    if (some(4) == 0) continue; /* copies along this dimension of the grid */
    of->grid_dimension = (int32_t)((d + 1) % dimensions);
    of->offset = some(3);
    of->distribution = some_distribution(0, of->extent + of->offset + some(3),
                                         place->grid_extent[of->grid_dimension], place->begin[d]);
    if (of->distribution.kind == NAGAYA_DISTRIBUTION_CYCLIC) continue;
    of->shadow_low = some(2);
    of->shadow_high = some(2);
  }
}

static void make(Place* place, uint32_t dimensions) {
  memset(place, 0, sizeof *place);
  place->members = some(5) == 0 ? 0 : some(3) == 0 ? 1 + (uint32_t)some(size) : size;
  for (uint32_t d = 0; d < dimensions; ++d)
    place->dimension[d] =
        (nagaya_array_dimension){.extent = 1 + some(EXTENT_MAX), .grid_dimension = -1};
  place->shape = (nagaya_array_shape){sizeof(int64_t), dimensions, place->dimension};
  place->side = (nagaya_array_side){&place->shape, NULL, place->variable, place->section};
  if (place->members == 0) return;
  lay_on_grid(place, dimensions);
  place->processes = first_of(place->members);
  place->grid = (nagaya_array_grid){place->processes, dimensions, place->grid_extent};
  place->side.grid = &place->grid;
  place->side.base = NULL;
  const uint64_t name = names++;
  if (rank >= place->members) return;
  EXPECT_EQUAL(nagaya_array_open(&place->shape, &place->grid, name, 0, &place->array), 0);
  place->side.base = nagaya_array_block_of(place->array)->base;
}

static void end(Place* place) {
  if (place->array != NULL) EXPECT_EQUAL(nagaya_array_close(place->array), 0);
  if (place->processes != NULL) EXPECT_EQUAL(nagaya_processes_close(place->processes), 0);
}

/* The caller's element with these indexes; NULL: it has none. */
static int64_t* own_element(Place* place, const int64_t* index) {
  if (place->side.base == NULL) return NULL;
  const nagaya_array_block* block =
      place->array != NULL ? nagaya_array_block_of(place->array) : NULL;
  int64_t at = 0;
  for (uint32_t d = 0; d < place->shape.dimensions; ++d) {
    const nagaya_array_dimension* of = &place->dimension[d];
    int64_t position = index[d];
    if (of->grid_dimension >= 0) {
      uint32_t stride = 1;
      for (uint32_t g = place->shape.dimensions; --g > (uint32_t)of->grid_dimension;)
        stride *= place->grid_extent[g];
      const uint32_t own = rank / stride % place->grid_extent[of->grid_dimension];
      if (nagaya_distribution_coordinate(&of->distribution, index[d] + of->offset) != own)
        return NULL;
      if (of->distribution.kind == NAGAYA_DISTRIBUTION_CYCLIC)
        position = nagaya_distribution_place(&of->distribution, index[d] + of->offset);
    }
    at = block != NULL ? at * block->count[d] + position - block->first[d]
                       : at * of->extent + position;
  }
  return (int64_t*)place->side.base + at;
}

static int64_t number_of(const Place* place, const int64_t* index) {
  int64_t number = 0;
  for (uint32_t d = 0; d < place->shape.dimensions; ++d)
    number = number * place->dimension[d].extent + index[d];
  return number;
}

static int next(const Place* place, int64_t* index) {
  for (uint32_t d = place->shape.dimensions; d-- > 0; index[d] = 0)
    if (++index[d] < place->dimension[d].extent) return 1;
  return 0;
}

static void fill(Place* place, int64_t add, int is_untouched) {
  int64_t index[DIMENSIONS_MAX] = {0};
  do {
    int64_t* own = own_element(place, index);
    if (own != NULL) *own = is_untouched ? UNTOUCHED : number_of(place, index) + add;
  } while (next(place, index));
}

/* Chooses `count` indexes of dimension d. */
static void choose(Place* place, uint32_t d, int64_t count) {
  const int64_t extent = place->dimension[d].extent;
  int64_t step = count == 1 ? 0 : 1 + some((extent - 1) / (count - 1));
  int64_t first = some(extent - (count - 1) * step);
  if (some(3) == 0) first += (count - 1) * step, step = -step;
  place->section[d] = (nagaya_array_triplet){first, count, step};
}

/* Chooses sections of both; the last dimensions of the one range as those of the other. */
static void choose_both(Place* to, Place* from) {
  const uint32_t dt = to->shape.dimensions, df = from->shape.dimensions;
  const int is_element = some(6) == 0;
  const uint32_t common = dt < df ? dt : df;
  for (uint32_t d = 0; d + common < dt; ++d) choose(to, d, 1);
  for (uint32_t d = 0; d + common < df; ++d) choose(from, d, 1);
  for (uint32_t n = 1; n <= common; ++n) {
    const int64_t a = to->dimension[dt - n].extent, b = from->dimension[df - n].extent;
    const int64_t count = 1 + some(a < b ? a : b);
    choose(to, dt - n, count);
    choose(from, df - n, is_element ? 1 : count);
  }
}

/* Finds the element of `from` that `to` gets at `index`; 0: it gets none. */
static int source_of(const Place* to, const Place* from, const int64_t* index, int64_t* source) {
  int64_t numbers[DIMENSIONS_MAX];
  uint32_t count = 0;
  for (uint32_t d = 0; d < to->shape.dimensions; ++d) {
    const nagaya_array_triplet* s = &to->section[d];
    const int64_t n = s->step == 0 ? 0 : (index[d] - s->first) / s->step;
    if (n < 0 || n >= s->count || s->first + n * s->step != index[d]) return 0;
    if (s->count > 1) numbers[count++] = n;
  }
  uint32_t used = 0;
  for (uint32_t d = 0; d < from->shape.dimensions; ++d) {
    const nagaya_array_triplet* s = &from->section[d];
    source[d] = s->first + (s->count > 1 ? numbers[used++] : 0) * s->step;
  }
  return 1;
}

static void check(Place* to, const Place* from, int64_t add, int64_t round) {
  int64_t index[DIMENSIONS_MAX] = {0}, source[DIMENSIONS_MAX];
  do {
    const int64_t* own = own_element(to, index);
    if (own == NULL) continue;
    const int64_t before = to == from ? number_of(to, index) + add : UNTOUCHED;
    const int64_t wanted =
        source_of(to, from, index, source) ? number_of(from, source) + add : before;
    if (*own != wanted) {
      fprintf(stderr, "round %ld, rank %u: %ld at %ld %ld %ld, not %ld\n", (long)round, rank,
              (long)*own, (long)index[0], (long)index[1], (long)index[2], (long)wanted);
      exit(1);
    }
  } while (next(to, index));
}

/* An assignment of an array to itself takes both sections from one Place. */
static void to_itself(nagaya_transfers* transfers, int64_t round) {
  static Place to, from;
  make(&to, 1 + (uint32_t)some(DIMENSIONS_MAX));
  from = to;
  from.shape.dimension = from.dimension;
  from.side.section = from.section;
  choose_both(&to, &from);
  fill(&to, round, 0);
  EXPECT_EQUAL(nagaya_array_transfer(transfers, &to.side, &from.side), 0);
  int64_t index[DIMENSIONS_MAX] = {0}, source[DIMENSIONS_MAX];
  do {
    const int64_t* own = own_element(&to, index);
    if (own == NULL) continue;
    const int64_t* what = source_of(&to, &from, index, source) ? source : index;
    EXPECT_EQUAL(*own, number_of(&to, what) + round);
  } while (next(&to, index));
  end(&to);
}

static void assign(nagaya_transfers* transfers, int64_t round) {
  static Place to, from;
  make(&to, 1 + (uint32_t)some(DIMENSIONS_MAX));
  make(&from, 1 + (uint32_t)some(DIMENSIONS_MAX));
  choose_both(&to, &from);
  for (int64_t again = 0; again < 3; ++again) {
    fill(&from, round + again, 0);
    fill(&to, 0, 1);
    EXPECT_EQUAL(nagaya_array_transfer(transfers, &to.side, &from.side), 0);
    fill(&from, 0, 1); /* nobody reads it any more */
    check(&to, &from, round + again, round);
  }
  end(&to);
  end(&from);
}

static void refuse(nagaya_transfers* transfers) {
  static Place to, from;
  make(&to, 1);
  make(&from, 1);
  choose_both(&to, &from);
  from.shape.element_bytes = 4;
  EXPECT_EQUAL(nagaya_array_transfer(transfers, &to.side, &from.side), -EINVAL);
  from.shape.element_bytes = sizeof(int64_t);
  from.section[0] = (nagaya_array_triplet){0, from.dimension[0].extent + 1, 1};
  EXPECT_EQUAL(nagaya_array_transfer(transfers, &to.side, &from.side), -EINVAL);
  end(&to);
  end(&from);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  state = argc > 2 ? (uint64_t)atol(argv[2]) : 1;
  EXPECT_EQUAL(nagaya_comm_init(), 0);
  EXPECT_EQUAL(nagaya_match_open(0), 0);
  rank = (uint32_t)nagaya_comm_rank();
  size = (uint32_t)nagaya_comm_size();
  EXPECT(size <= PROCESSES_MAX);
  for (uint32_t n = 0; n < size; ++n) nagaya_comm_process(n, &all[n]);
  nagaya_processes* members = first_of(size);
  nagaya_transfers* transfers;
  EXPECT_EQUAL(nagaya_transfers_open(members, (uint64_t)1 << 55, &transfers), -EINVAL);
  EXPECT_EQUAL(nagaya_transfers_open(members, ((uint64_t)1 << 55) - 1, &transfers), 0);
  refuse(transfers);
  for (int round = 0; round < rounds; ++round) {
    assign(transfers, 1000 * round);
    to_itself(transfers, 1000 * round);
  }
  nagaya_transfers_close(transfers);
  EXPECT_EQUAL(nagaya_processes_close(members), 0);
  if (rank == 0) printf("%d rounds among %u\n", rounds, size);
  nagaya_comm_finalize();
  return 0;
}
