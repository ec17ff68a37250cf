/* SPDX-License-Identifier: BSD-3-Clause */
/* collective_reference.c - more than 500 lines: each datatype and operation is there twice, as MPI
 * has it and as plain C computes it. */
#include "collective_reference.h"

#include <limits.h>
#include <stdlib.h>

#include "expect.h"

enum { kPrime = 10007, kOperandsMost = 80, kColumn = 1000, kApart = 64 };

static struct family families[kFamilies];
static struct operand operands[kOperandsMost];
static int operands_count, first_of_user;
static MPI_Op user_ops[kRules], sum_in_order;

/* ---- layouts ------------------------------------------------------------------------------- */

static void add_piece(struct layout* layout, int offset, int bytes, enum number number) {
  layout->piece[layout->pieces++] = (struct piece){offset, bytes, number};
  layout->bytes += bytes;
  if (layout->pieces == 1) layout->low = layout->high = offset;
  if (offset < layout->low) layout->low = offset;
  if (offset + bytes > layout->high) layout->high = offset + bytes;
}

/* The type with these bounds in place of its own. */
static MPI_Datatype bounded(MPI_Datatype type, MPI_Aint lower, MPI_Aint extent) {
  MPI_Datatype made;
  MPI_Type_create_resized(type, lower, extent, &made);
  MPI_Type_free(&type);
  return made;
}

/* MPI's own types are not freed. */
static void free_type(MPI_Datatype* type) {
  int integers, addresses, types, combiner;
  MPI_Type_get_envelope(*type, &integers, &addresses, &types, &combiner);
  if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(type);
}

/* The type is finished, and MPI agrees with its description. */
static void commit(struct layout* layout, MPI_Datatype type) {
  MPI_Aint lower, extent, true_lower, true_extent;
  int bytes;
  layout->type = type;
  MPI_Type_commit(&layout->type);
  MPI_Type_size(type, &bytes);
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  EXPECT_EQUAL(bytes, layout->bytes);
  EXPECT_EQUAL(extent, layout->extent);
  EXPECT_EQUAL(true_lower, layout->low);
  EXPECT_EQUAL(true_extent, layout->high - layout->low);
}

/* Places, lengths and bounds count base elements. */
struct shape {
  int blocks;
  int places[3], lengths[3];
  int extent, most;
};

static const struct shape kShapes[] = {
    {1, {0}, {1}, 1, INT_MAX},
    {1, {0}, {12}, 12, INT_MAX},
    {3, {0, 5, 10}, {2, 2, 2}, 12, INT_MAX},
    {2, {0, 3}, {1, 1}, 8, INT_MAX},
    {3, {3, 0, 7}, {1, 2, 1}, 8, INT_MAX},
    {3, {0, -2, -4}, {1, 1, 1}, 5, INT_MAX},
    {3, {0, kColumn, 2 * kColumn}, {1, 1, 1}, 1, kColumn},
    {2, {2, 4}, {1, 2}, 10, INT_MAX},
    {2, {0, 1100}, {1024, 1024}, 2124, INT_MAX},
};

/* By the constructor that programs use for it. */
static MPI_Datatype shaped(int shape, MPI_Datatype base, int bytes) {
  MPI_Datatype type;
  switch (shape) {
    case 0:
      return base;
    case 1:
      MPI_Type_contiguous(12, base, &type);
      return type;
    case 2:
      MPI_Type_vector(3, 2, 5, base, &type);
      return type;
    case 3:
      MPI_Type_vector(2, 1, 3, base, &type);
      return bounded(type, 0, 8 * bytes);
    case 4:
      MPI_Type_indexed(3, (int[]){1, 2, 1}, (int[]){3, 0, 7}, base, &type);
      return type;
    case 5:
      MPI_Type_create_hvector(3, 1, -2 * bytes, base, &type);
      return type;
    case 6:
      MPI_Type_vector(3, 1, kColumn, base, &type);
      return bounded(type, 0, bytes);
    case 7:
      MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){2 * bytes, 4 * bytes},
                             (MPI_Datatype[]){base, base}, &type);
      return bounded(type, -2 * bytes, 10 * bytes);
    default:
      MPI_Type_vector(2, 1024, 1100, base, &type);
      return type;
  }
}

static void make_family(struct family* family, const char* name, MPI_Datatype base) {
  MPI_Type_size(base, &family->unit_bytes);
  family->name = name;
  const int bytes = family->unit_bytes;
  for (int n = 0; n < kLayoutsMost; ++n) {
    const struct shape* const shape = &kShapes[n];
    struct layout* const layout = &family->layout[family->count++];
    for (int k = 0; k < shape->blocks; ++k) {
      add_piece(layout, shape->places[k] * bytes, shape->lengths[k] * bytes, kUnsigned);
      layout->units += shape->lengths[k];
    }
    layout->extent = shape->extent * bytes;
    layout->most = shape->most;
    commit(layout, shaped(n, base, bytes));
  }
}

static MPI_Datatype record(const MPI_Aint* places) {
  static const MPI_Datatype kTypes[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
  MPI_Datatype type;
  MPI_Type_create_struct(3, (int[]){1, 1, 1}, places, kTypes, &type);
  return type;
}

static void add_record(struct layout* layout, int at, const MPI_Aint* places) {
  add_piece(layout, at + (int)places[0], sizeof(int), kUnsigned);
  add_piece(layout, at + (int)places[1], sizeof(double), kUnsigned);
  add_piece(layout, at + (int)places[2], sizeof(char), kUnsigned);
  ++layout->units;
}

/* Makes a family whose unit has several types. */
static void make_records(struct family* family) {
  static const MPI_Aint kPlaces[] = {0, 8, 16}, kBackwards[] = {32, 8, 0};
  family->name = "record";
  family->unit_bytes = sizeof(int) + sizeof(double) + sizeof(char);
  family->count = 3;
  for (int n = 0; n < family->count; ++n) family->layout[n].most = INT_MAX;
  struct layout* const one = &family->layout[0];
  add_record(one, 0, kPlaces);
  one->extent = 24;
  commit(one, bounded(record(kPlaces), 0, 24));
  struct layout* const backwards = &family->layout[1];
  add_record(backwards, 0, kBackwards);
  backwards->extent = 48;
  commit(backwards, bounded(record(kBackwards), -8, 48));
  struct layout* const two = &family->layout[2];
  add_record(two, 0, kPlaces);
  add_record(two, 24, kPlaces);
  two->extent = 48;
  MPI_Datatype type;
  MPI_Type_contiguous(2, one->type, &type);
  commit(two, type);
}

void spread(const struct layout* layout, const unsigned char* packed, unsigned char* to,
            int items) {
  if (layout->pieces == 1 && layout->bytes == layout->extent) {
    memcpy(to + layout->low, packed, (size_t)items * (size_t)layout->bytes);
    return;
  }
  for (int n = 0; n < items; ++n, to += layout->extent)
    for (int k = 0; k < layout->pieces; ++k) {
      memcpy(to + layout->piece[k].offset, packed, (size_t)layout->piece[k].bytes);
      packed += layout->piece[k].bytes;
    }
}

/* ---- numbers ------------------------------------------------------------------------------- */

static long long load_number(const struct piece* piece, const unsigned char* at) {
  double real;
  float short_real;
  uint64_t bits = 0;
  if (piece->number == kReal && piece->bytes == sizeof real) {
    memcpy(&real, at, sizeof real);
    return (long long)real;
  }
  if (piece->number == kReal) {
    memcpy(&short_real, at, sizeof short_real);
    return (long long)short_real;
  }
  memcpy(&bits, at, (size_t)piece->bytes);
  const int missing = 64 - 8 * piece->bytes;
  return piece->number == kUnsigned ? (long long)bits : (long long)(bits << missing) >> missing;
}

static void store_number(const struct piece* piece, long long number, unsigned char* at) {
  const double real = (double)number;
  const float short_real = (float)number;
  const void* from = &number;
  if (piece->number == kReal) from = &real;
  if (piece->number == kReal && piece->bytes == sizeof short_real) from = &short_real;
  memcpy(at, from, (size_t)piece->bytes);
}

struct element load(const struct layout* layout, const unsigned char* item) {
  struct element element = {{0}};
  for (int n = 0; n < layout->pieces; ++n)
    element.field[n] = load_number(&layout->piece[n], item + layout->piece[n].offset);
  return element;
}

void store(const struct layout* layout, const struct element* element, unsigned char* item) {
  for (int n = 0; n < layout->pieces; ++n)
    store_number(&layout->piece[n], element->field[n], item + layout->piece[n].offset);
}

/* ---- the ranks' numbers -------------------------------------------------------------------- */

/* Chosen so that every result is exact, in floating point too, and no intermediate one overflows.
 */
static long long number_for(enum rule rule, const struct piece* piece, uint64_t random, int rank,
                            int size) {
  const long long most = piece->bytes == 1 ? 120 / size : piece->bytes == 2 ? 30000 / size : 1000;
  const long long small = (long long)(random % (uint64_t)(most + 1));
  const bool is_negative = piece->number != kUnsigned && (random >> 40) % 2 == 1;
  switch (rule) {
    case kSum:
      return is_negative ? -small : small;
    case kProd:
      return rank < 6 && random % 3 == 0 ? 2 : is_negative ? -1 : 1;
    case kMin:
    case kMax:
      return piece->number == kReal ? (long long)(random % 2001) - 1000 : (long long)random;
    case kBand:
      return ~(1ll << random % 64);
    case kBor:
      return (random >> 32) % 2 == 0 ? 0 : 1ll << random % 64;
    case kLand:
      return (random >> 32) % ((uint64_t)size + 1) == 0 ? 0 : (long long)(1 + random % 5);
    case kLor:
      return (random >> 32) % ((uint64_t)size + 1) == 0 ? (long long)(1 + random % 5) : 0;
    case kLxor:
      return (long long)(random % 3);
    case kMaxloc:
    case kMinloc:
      return (long long)(random % 5);
    case kModularSum:
    case kCompose:
    case kMatrix:
      return (long long)(random % kPrime);
    default:
      return (long long)random;
  }
}

struct element value_of(const struct operand* operand, uint64_t seed, int rank, int n, int size) {
  struct element element = {{0}};
  unsigned char item[sizeof(long long)];
  for (int k = 0; k < operand->layout.pieces; ++k) {
    const struct piece* const piece = &operand->layout.piece[k];
    const uint64_t random = mixed(seed + (uint64_t)rank, (uint64_t)n * kFieldsMost + (uint64_t)k);
    store_number(piece, number_for(operand->rule, piece, random, rank, size), item);
    element.field[k] = load_number(piece, item); /* as it fits into that number */
  }
  return element;
}

/* ---- reductions ---------------------------------------------------------------------------- */

static long long reduced(enum rule rule, long long a, long long b) {
  switch (rule) {
    case kSum:
      return a + b;
    case kProd:
      return a * b;
    case kMin:
      return a < b ? a : b;
    case kMax:
      return a > b ? a : b;
    case kBand:
      return a & b;
    case kBor:
      return a | b;
    case kBxor:
      return a ^ b;
    case kLand:
      return a && b;
    case kLor:
      return a || b;
    case kLxor:
      return !a != !b;
    default:
      return (a + b) % kPrime;
  }
}

void reduce_into(enum rule rule, struct element* left, const struct element* right) {
  long long* const a = left->field;
  const long long* const b = right->field;
  if (rule == kMaxloc || rule == kMinloc) {
    const bool is_right = rule == kMaxloc ? b[0] > a[0] : b[0] < a[0];
    if (is_right || (b[0] == a[0] && b[1] < a[1])) *left = *right;
  } else if (rule == kCompose) {
    a[1] = (a[0] * b[1] + a[1]) % kPrime;
    a[0] = a[0] * b[0] % kPrime;
  } else if (rule == kMatrix) {
    const struct element product = {
        {(a[0] * b[0] + a[1] * b[2]) % kPrime, (a[0] * b[1] + a[1] * b[3]) % kPrime,
         (a[2] * b[0] + a[3] * b[2]) % kPrime, (a[2] * b[1] + a[3] * b[3]) % kPrime}};
    *left = product;
  } else {
    for (int n = 0; n < kFieldsMost; ++n) a[n] = reduced(rule, a[n], b[n]);
  }
}

/* The user's operations are told the type that the program has named. */
static void reduce_items(enum rule rule, void* in, void* inout, int count, MPI_Datatype type) {
  const struct operand* operand = NULL;
  for (int n = first_of_user; n < operands_count && operand == NULL; ++n)
    if (operands[n].layout.type == type) operand = &operands[n];
  if (operand == NULL) {
    fprintf(stderr, "mpi_collectives: a user's operation is called for a type of nobody\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
    return;
  }
  const struct layout* const layout = &operand->layout;
  for (int n = 0; n < count; ++n) {
    unsigned char* const to = (unsigned char*)inout + n * layout->extent;
    struct element left = load(layout, (unsigned char*)in + n * layout->extent);
    const struct element right = load(layout, to);
    reduce_into(rule, &left, &right);
    store(layout, &left, to);
  }
}

static void modular_sum(void* in, void* inout, int* count, MPI_Datatype* type) {
  reduce_items(kModularSum, in, inout, *count, *type);
}
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  reduce_items(kCompose, in, inout, *count, *type);
}
static void multiply(void* in, void* inout, int* count, MPI_Datatype* type) {
  reduce_items(kMatrix, in, inout, *count, *type);
}

const char* rule_name(enum rule rule) {
  static const char* const kNames[] = {
      "sum", "prod", "min",    "max",    "band",        "bor",         "bxor",          "land",
      "lor", "lxor", "maxloc", "minloc", "modular sum", "composition", "matrix product"};
  return kNames[rule];
}

/* ---- operands ------------------------------------------------------------------------------ */

/* Its pieces are still to be added. */
static struct operand* new_operand(const char* name, enum rule rule, MPI_Op op, ptrdiff_t extent) {
  EXPECT(operands_count < kOperandsMost);
  struct operand* const operand = &operands[operands_count++];
  *operand = (struct operand){.name = name, .rule = rule, .op = op};
  operand->layout.extent = extent;
  operand->layout.most = INT_MAX;
  operand->layout.units = 1;
  return operand;
}

static void make_numbers(void) {
  static const MPI_Op kOps[] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_BAND,
                                MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
  static const struct {
    const char* name;
    MPI_Datatype type;
    int bytes;
    enum number number;
    enum rule first, last;
  } kTypes[] = {
      {"signed char", MPI_SIGNED_CHAR, 1, kSigned, kSum, kLxor},
      {"unsigned char", MPI_UNSIGNED_CHAR, 1, kUnsigned, kSum, kLxor},
      {"short", MPI_SHORT, sizeof(short), kSigned, kSum, kMax},
      {"int", MPI_INT, sizeof(int), kSigned, kSum, kLxor},
      {"long", MPI_LONG, sizeof(long), kSigned, kSum, kLxor},
      {"float", MPI_FLOAT, sizeof(float), kReal, kSum, kMax},
      {"double", MPI_DOUBLE, sizeof(double), kReal, kSum, kMax},
      {"byte", MPI_BYTE, 1, kUnsigned, kBand, kBxor},
  };
  for (size_t n = 0; n < sizeof kTypes / sizeof *kTypes; ++n)
    for (enum rule rule = kTypes[n].first; rule <= kTypes[n].last; ++rule) {
      const int bytes = kTypes[n].bytes;
      struct operand* const operand = new_operand(kTypes[n].name, rule, kOps[rule], bytes);
      add_piece(&operand->layout, 0, bytes, kTypes[n].number);
      operand->layout.type = kTypes[n].type;
    }
}

static void make_pairs(void) {
  static const struct {
    const char* name;
    MPI_Datatype type;
    int bytes;
    enum number number;
    int place, extent; /* of the index; of both */
  } kPairs[] = {
      {"2int", MPI_2INT, 4, kSigned, 4, 8},
      {"short, int", MPI_SHORT_INT, 2, kSigned, 4, 8},
      {"float, int", MPI_FLOAT_INT, 4, kReal, 4, 8},
      {"long, int", MPI_LONG_INT, 8, kSigned, 8, 16},
      {"double, int", MPI_DOUBLE_INT, 8, kReal, 8, 16},
  };
  for (int n = 0; n < 10; ++n) {
    const int k = n / 2;
    struct operand* const operand =
        new_operand(kPairs[k].name, n % 2 == 0 ? kMaxloc : kMinloc,
                    n % 2 == 0 ? MPI_MAXLOC : MPI_MINLOC, kPairs[k].extent);
    add_piece(&operand->layout, 0, kPairs[k].bytes, kPairs[k].number);
    add_piece(&operand->layout, kPairs[k].place, sizeof(int), kSigned);
    operand->layout.type = kPairs[k].type;
  }
}

/* Makes an operand of `count` ints at these places. */
static struct operand* new_of_ints(const char* name, enum rule rule, int count, const int* places,
                                   int lower, int extent) {
  int lengths[kFieldsMost];
  struct operand* const operand = new_operand(name, rule, user_ops[rule], extent);
  for (int n = 0; n < count; ++n) {
    add_piece(&operand->layout, places[n] * (int)sizeof(int), sizeof(int), kSigned);
    lengths[n] = 1;
  }
  MPI_Datatype type;
  MPI_Type_indexed(count, lengths, places, MPI_INT, &type);
  commit(&operand->layout, bounded(type, lower, extent));
  return operand;
}

static struct operand* new_without_gaps(const char* name, enum rule rule, int count) {
  struct operand* const operand = new_operand(name, rule, user_ops[rule], 4 * count);
  for (int n = 0; n < count; ++n) add_piece(&operand->layout, 4 * n, sizeof(int), kSigned);
  MPI_Datatype type;
  MPI_Type_contiguous(count, MPI_INT, &type);
  commit(&operand->layout, type);
  return operand;
}

static MPI_Op new_op(enum rule rule, int commutes) {
  MPI_User_function* const function = rule == kModularSum ? modular_sum
                                      : rule == kCompose  ? compose
                                                          : multiply;
  MPI_Op made;
  MPI_Op_create(function, commutes, &made);
  return made;
}

bool is_of_user(const struct operand* operand) {
  return operand->rule >= kModularSum;
}

MPI_Op copy_op(const struct operand* operand) {
  int commutes;
  MPI_Op_commutative(operand->op, &commutes);
  return new_op(operand->rule, commutes);
}

static void make_user_operands(void) {
  first_of_user = operands_count;
  for (enum rule rule = kModularSum; rule < kRules; ++rule)
    user_ops[rule] = new_op(rule, rule == kModularSum);
  sum_in_order = new_op(kModularSum, 0);
  struct operand* const residue =
      new_operand("residue", kModularSum, user_ops[kModularSum], sizeof(long));
  add_piece(&residue->layout, 0, sizeof(long), kSigned);
  residue->layout.type = MPI_LONG;
  new_without_gaps("residues", kModularSum, 3)->op = sum_in_order;
  new_without_gaps("map", kCompose, 2);
  new_without_gaps("matrix", kMatrix, 4);
  new_of_ints("map with gaps", kCompose, 2, (int[]){2, 6}, 0, 40);
  new_of_ints("matrix with gaps", kMatrix, 4, (int[]){3, 2, 5, 0}, 0, 24);
  new_of_ints("residues with gaps", kModularSum, 3, (int[]){1, 2, 4}, 0, 20);
  new_of_ints("matrix before a gap", kMatrix, 4, (int[]){0, 1, 2, 3}, 0, 20);
  new_of_ints("map behind a gap", kCompose, 2, (int[]){2, 3}, 0, 16);
  new_of_ints("map below its address", kCompose, 2, (int[]){-2, 1}, -8, 20);
  new_of_ints("map backwards", kCompose, 2, (int[]){1, 3}, 0, -20);
  new_of_ints("map in two arrays", kCompose, 2, (int[]){0, kApart}, 0, 4)->layout.most = kApart;
}

const struct family* family_of(uint32_t number) {
  return &families[number % kFamilies];
}

const struct operand* operand_of(uint32_t number) {
  const uint32_t of_user = (uint32_t)(operands_count - first_of_user);
  const uint32_t others = (uint32_t)first_of_user;
  return number % 2 == 0 ? &operands[number / 2 % others]
                         : &operands[others + number / 2 % of_user];
}

void make_reference(void) {
  make_family(&families[0], "char", MPI_CHAR);
  make_family(&families[1], "unsigned char", MPI_UNSIGNED_CHAR);
  make_family(&families[2], "int", MPI_INT);
  make_family(&families[3], "long", MPI_LONG);
  make_family(&families[4], "float", MPI_FLOAT);
  make_family(&families[5], "double", MPI_DOUBLE);
  make_records(&families[6]);
  make_numbers();
  make_pairs();
  make_user_operands();
}

void free_reference(void) {
  for (int n = 0; n < kFamilies; ++n)
    for (int k = 0; k < families[n].count; ++k) free_type(&families[n].layout[k].type);
  for (int n = 0; n < operands_count; ++n) free_type(&operands[n].layout.type);
  for (int n = kModularSum; n < kRules; ++n) MPI_Op_free(&user_ops[n]);
  MPI_Op_free(&sum_in_order);
}
