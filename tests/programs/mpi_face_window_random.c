/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_face_window_random.c - random accesses by random types to a random window, against the same
 * done by MPI_Pack and MPI_Unpack on a copy of the memory of all ranks, which each rank keeps.
 * Operations are computed here: MPI_Reduce_local takes the unsigned for signed (MPICH 4.0), and
 * lets short sums saturate (Open MPI 4.1).
 *
 *   mpi_face_window_random SEED ACCESSES
 *
 * All ranks draw the same accesses. Between two synchronisations either one rank accesses one
 * target in any way, or all ranks add to one place. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

#include "expect.h"
#include "random_numbers.h"

enum { kBytes = 1 << 16, kKinds = 4 };

typedef struct {
  MPI_Datatype type;
  int bytes;
} Element;

static uint64_t state;
static int rank, ranks;
static unsigned char *memory, *model; /* of this rank; of all ranks */
static MPI_Aint* bases;
static int is_dynamic;
static MPI_Win window;

/* ---- random types of `elements` elements, each once, in ascending places of at most `room`
 * elements */

/* Takes a divisor of n. */
static int divisor(int n) {
  int d = 1 + (int)draw(&state, (uint32_t)n);
  while (n % d != 0) --d;
  return d;
}

static MPI_Datatype indexed(int elements, const Element* element) {
  int lengths[64], places[64], count = 0, place = (int)draw(&state, 4);
  while (elements > 0 && count < 63) {
    lengths[count] = 1 + (int)draw(&state, elements < 6 ? (uint32_t)elements : 6);
    places[count] = place;
    place += lengths[count] + (int)draw(&state, 3);
    elements -= lengths[count++];
  }
  if (elements > 0) {
    lengths[count] = elements;
    places[count++] = place;
  }
  MPI_Datatype type;
  MPI_Type_indexed(count, lengths, places, element->type, &type);
  return type;
}

static MPI_Datatype vector(int elements, const Element* element) {
  const int length = divisor(elements);
  MPI_Datatype type;
  MPI_Type_vector(elements / length, length, length + (int)draw(&state, 3), element->type, &type);
  return type;
}

/* Two halves, each of which is a vector or indexed. */
static MPI_Datatype structure(int elements, const Element* element) {
  int lengths[2] = {1, 1};
  const int first = elements / 2;
  MPI_Datatype halves[2] = {vector(first, element), indexed(elements - first, element)}, type;
  MPI_Aint lb, extent, places[2] = {0, 0};
  MPI_Type_get_extent(halves[0], &lb, &extent);
  places[1] = extent;
  MPI_Type_create_struct(2, lengths, places, halves, &type);
  MPI_Type_free(&halves[0]);
  MPI_Type_free(&halves[1]);
  return type;
}

/* A buffer of count elements of type, with `elements` elements in all. */
typedef struct {
  MPI_Datatype type;
  int count;
} Side;

static Side draw_side(int elements, const Element* element) {
  Side side = {element->type, elements};
  const uint32_t kind = draw(&state, 4);
  if (kind == 0) {
    MPI_Type_dup(element->type, &side.type);
  } else {
    side.count = divisor(elements);
    const int each = elements / side.count;
    side.type = kind == 1 || each < 4 ? vector(each, element)
                : kind == 2           ? indexed(each, element)
                                      : structure(each, element);
  }
  MPI_Type_commit(&side.type);
  return side;
}

/* ---- what MPI says an access does */

static void copy(const void* from, const Side* out, void* to, const Side* in) {
  static char packed[kBytes];
  int end = 0, position = 0;
  MPI_Pack(from, out->count, out->type, packed, sizeof packed, &end, MPI_COMM_SELF);
  MPI_Unpack(packed, end, &position, to, in->count, in->type, MPI_COMM_SELF);
}

typedef struct {
  double value;
  int index;
} Pair;

static Pair reduced_pair(Pair a, Pair b, MPI_Op op) {
  if (a.value == b.value) return a.index < b.index ? a : b;
  return (a.value > b.value) == (op == MPI_MAXLOC) ? a : b;
}

/* a and b as 64 bits, which the caller cuts. */
static int64_t reduced(int64_t a, int64_t b, MPI_Op op) {
  if (op == MPI_SUM) return (int64_t)((uint64_t)a + (uint64_t)b);
  if (op == MPI_PROD) return (int64_t)((uint64_t)a * (uint64_t)b);
  if (op == MPI_MAX) return a > b ? a : b;
  if (op == MPI_MIN) return a < b ? a : b;
  if (op == MPI_BAND) return a & b;
  return a ^ b;
}

static int64_t number(const char* at, const Element* element) {
  if (element->type == MPI_UNSIGNED_CHAR) return *(const unsigned char*)at;
  if (element->type == MPI_SHORT) return *(const short*)at;
  if (element->type == MPI_INT) return *(const int*)at;
  if (element->type == MPI_UINT32_T) return *(const uint32_t*)at;
  return *(const int64_t*)at;
}

/* The lower bytes of a number are the number in a shorter type. */
static void reduce_all(char* values, const char* operands, int elements, const Element* element,
                       MPI_Op op) {
  for (int n = 0; n < elements; ++n, values += element->bytes, operands += element->bytes) {
    if (element->type == MPI_DOUBLE_INT) {
      *(Pair*)values = reduced_pair(*(const Pair*)operands, *(Pair*)values, op);
      continue;
    }
    const int64_t result = reduced(number(operands, element), number(values, element), op);
    memcpy(values, &result, (size_t)element->bytes);
  }
}

static void reduce(void* target, const Side* there, const void* origin, const Side* here, MPI_Op op,
                   const Element* element, int elements) {
  static char values[kBytes] __attribute__((aligned(16))),
      operands[kBytes] __attribute__((aligned(16)));
  const Side plain = {element->type, elements};
  copy(target, there, values, &plain);
  copy(origin, here, operands, &plain);
  if (op == MPI_REPLACE)
    memcpy(values, operands, (size_t)(elements * element->bytes));
  else if (op != MPI_NO_OP)
    reduce_all(values, operands, elements, element, op);
  copy(values, &plain, target, there);
}

/* ---- accesses */

static const Element* draw_element(void) {
  static Element all[6];
  all[0] = (Element){MPI_INT, 4};
  all[1] = (Element){MPI_SHORT, 2};
  all[2] = (Element){MPI_INT64_T, 8};
  all[3] = (Element){MPI_UNSIGNED_CHAR, 1};
  all[4] = (Element){MPI_DOUBLE_INT, 16};
  all[5] = (Element){MPI_UINT32_T, 4};
  return &all[draw(&state, 6)];
}

static MPI_Op draw_op(const Element* element) {
  const MPI_Op numbers[] = {MPI_SUM,  MPI_PROD, MPI_MAX,     MPI_MIN,
                            MPI_BXOR, MPI_BAND, MPI_REPLACE, MPI_NO_OP};
  const MPI_Op pairs[] = {MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
  return element->type == MPI_DOUBLE_INT ? pairs[draw(&state, 4)] : numbers[draw(&state, 8)];
}

/* Integers below 2^16 in doubles, so that no comparison meets a NaN. */
static void fill_elements(unsigned char* to, size_t bytes, const Element* element, uint64_t seed) {
  if (element->type != MPI_DOUBLE_INT) {
    fill(seed, to, bytes);
    return;
  }
  memset(to, 0, bytes);
  for (size_t n = 0; n + 16 <= bytes; n += 16) {
    const double value = (double)(mixed(seed, n) % 50);
    const int index = (int)(mixed(seed, n + 1) % 1000);
    memcpy(to + n, &value, sizeof value);
    memcpy(to + n + 8, &index, sizeof index);
  }
}

static void synchronise(int is_lock, int origin, int target) {
  if (!is_lock)
    MPI_Win_fence(0, window);
  else if (rank == origin)
    MPI_Win_unlock(target, window);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The gaps of pairs do not count. */
static int are_equal(const void* a, const void* b, const Side* side, const Element* element) {
  static char packed_a[kBytes], packed_b[kBytes];
  int end_a = 0, end_b = 0;
  if (element->type != MPI_DOUBLE_INT) return memcmp(a, b, kBytes) == 0;
  MPI_Pack(a, side->count, side->type, packed_a, kBytes, &end_a, MPI_COMM_SELF);
  MPI_Pack(b, side->count, side->type, packed_b, kBytes, &end_b, MPI_COMM_SELF);
  return memcmp(packed_a, packed_b, (size_t)end_a) == 0;
}

static void access_once(uint64_t seed) {
  static unsigned char origin[kBytes] __attribute__((aligned(16))),
      sent[kBytes] __attribute__((aligned(16))), result[kBytes] __attribute__((aligned(16))),
      expected[kBytes] __attribute__((aligned(16)));
  const Element* const element = draw_element();
  const int elements = 1 + (int)draw(&state, 200), by_all = draw(&state, 3) == 0;
  const Side here = draw_side(elements, element), there = draw_side(elements, element);
  const MPI_Op op =
      by_all ? element->type == MPI_DOUBLE_INT ? MPI_MINLOC : MPI_SUM : draw_op(element);
  const int from = (int)draw(&state, (uint32_t)ranks), to = (int)draw(&state, (uint32_t)ranks);
  const int place = 16 * (int)draw(&state, 64), kind = by_all ? 2 : (int)draw(&state, 4);
  const int is_lock = draw(&state, 2) && !by_all;
  unsigned char* const target = model + (size_t)to * kBytes + place;
  const MPI_Aint at = is_dynamic ? bases[to] + place : place;

  fill_elements(memory, kBytes, element, mixed(seed, (uint64_t)rank));
  for (int n = 0; n < ranks; ++n)
    fill_elements(model + (size_t)n * kBytes, kBytes, element, mixed(seed, (uint64_t)n));
  MPI_Win_sync(window);
  synchronise(0, 0, 0);
  if (is_lock && rank == from) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, window);
  memset(result, 7, sizeof result);
  memset(expected, 7, sizeof expected);
  for (int n = 0; n < ranks; ++n) {
    if (!by_all && n != from) continue;
    fill_elements(origin, kBytes, element, mixed(seed, (uint64_t)(1000 + n)));
    const int is_caller = n == rank;
    if (is_caller) memcpy(sent, origin, kBytes); /* stays until the access is complete */
    if (kind == 0) {
      if (is_caller) MPI_Put(sent, here.count, here.type, to, at, there.count, there.type, window);
      copy(origin, &here, target, &there);
    } else if (kind == 1) {
      if (is_caller)
        MPI_Get(result, here.count, here.type, to, at, there.count, there.type, window);
      if (is_caller) copy(target, &there, expected, &here);
    } else if (kind == 2) {
      if (is_caller)
        MPI_Accumulate(sent, here.count, here.type, to, at, there.count, there.type, op, window);
      reduce(target, &there, origin, &here, op, element, elements);
    } else {
      if (is_caller)
        MPI_Get_accumulate(sent, here.count, here.type, result, here.count, here.type, to, at,
                           there.count, there.type, op, window);
      if (is_caller) copy(target, &there, expected, &here);
      reduce(target, &there, origin, &here, op, element, elements);
    }
  }
  synchronise(is_lock, from, to);
  MPI_Win_sync(window);
  EXPECT(memcmp(memory, model + (size_t)rank * kBytes, kBytes) == 0);
  EXPECT(are_equal(result, expected, &here, element));
  MPI_Type_free((MPI_Datatype*)&here.type);
  MPI_Type_free((MPI_Datatype*)&there.type);
}

static int are_on_one_node(void) {
  MPI_Comm here;
  int ranks_here;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Comm_size(here, &ranks_here);
  MPI_Comm_free(&here);
  return ranks_here == ranks;
}

static void make(int kind) {
  is_dynamic = kind == 3;
  if (kind == 0 || kind == 3) memory = aligned_alloc(64, kBytes);
  if (kind == 0) MPI_Win_create(memory, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (kind == 1 || (kind == 2 && !are_on_one_node()))
    MPI_Win_allocate(kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  else if (kind == 2)
    MPI_Win_allocate_shared(kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  if (kind == 3) {
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, memory, kBytes);
  }
  MPI_Aint own;
  MPI_Get_address(memory, &own);
  MPI_Allgather(&own, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  EXPECT(argc == 3);
  const uint64_t seed = strtoull(argv[1], NULL, 10);
  const int accesses = atoi(argv[2]);
  state = seed;
  model = malloc((size_t)ranks * kBytes);
  bases = calloc((size_t)ranks, sizeof *bases);
  for (int kind = 0; kind < kKinds; ++kind) {
    make(kind);
    for (int n = 0; n < accesses; ++n) access_once(mixed(seed, (uint64_t)(1000 * kind + n)));
    MPI_Win_free(&window);
    if (kind == 0 || kind == 3) free(memory);
  }
  if (rank == 0) printf("%d accesses to each of %d windows\n", accesses, kKinds);
  MPI_Finalize();
  return 0;
}
