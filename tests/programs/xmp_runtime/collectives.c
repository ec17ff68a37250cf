/* SPDX-License-Identifier: BSD-3-Clause */
/* collectives.c - barrier, bcast, reduction, task, loop and the inquiry functions, as xmpcc would
 * translate them, on grids of all processes. `collectives ROUNDS SEED` */
#include <complex.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmp/xmp.h>

#include "../expect.h"
#include "../random_numbers.h"
#include "nagaya/xmp_translated.h"

static uint64_t state;
static int size, own; /* of the job */

static nagaya_xmp_subscript range(long low, long high, long step) {
  const nagaya_xmp_subscript subscript = {NAGAYA_XMP_RANGE, low, high, step};
  return subscript;
}

/* Two numbers whose product is `of`. */
static void draw_grid(int of, long extent[2]) {
  do extent[0] = 1 + draw(&state, (uint32_t)of);
  while (of % extent[0] != 0);
  extent[1] = of / extent[0];
}

/* ---- reductions -------------------------------------------------------------------------- */

#define CHECK_REDUCTION(type, name, operation, first, combine)                           \
  do {                                                                                   \
    type mine[3], all[3];                                                                \
    memset(mine, 0, sizeof mine);                                                        \
    for (int n = 0; n < 3; ++n)                                                          \
      for (int rank = 0; rank < size; ++rank) {                                          \
        const type b = (type)((int)draw(&state, 3) - 1);                                 \
        const type a = all[n];                                                           \
        all[n] = (type)(rank == 0 ? (first) : (combine));                                \
        if (rank == own) mine[n] = b;                                                    \
      }                                                                                  \
    nagaya_xmp_reduce("collectives.c:1:1", operation, name, mine, 3, NULL, NULL, async); \
    if (async != NULL) nagaya_xmp_wait_async("collectives.c:2:1", 1, async, NULL);       \
    for (int n = 0; n < 3; ++n) EXPECT(mine[n] == all[n]);                               \
  } while (0)

#define CHECK_INTEGERS(type, name)                                 \
  do {                                                             \
    CHECK_REDUCTION(type, name, NAGAYA_XMP_SUM, b, (a + b));       \
    CHECK_REDUCTION(type, name, NAGAYA_XMP_PRODUCT, b, (a * b));   \
    CHECK_REDUCTION(type, name, NAGAYA_XMP_BIT_AND, b, (a & b));   \
    CHECK_REDUCTION(type, name, NAGAYA_XMP_BIT_OR, b, (a | b));    \
    CHECK_REDUCTION(type, name, NAGAYA_XMP_BIT_XOR, b, (a ^ b));   \
    CHECK_REDUCTION(type, name, NAGAYA_XMP_AND, b != 0, a && b);   \
    CHECK_REDUCTION(type, name, NAGAYA_XMP_OR, b != 0, a || b);    \
    CHECK_REDUCTION(type, name, NAGAYA_XMP_XOR, b != 0, !a != !b); \
    CHECK_REDUCTION(type, name, NAGAYA_XMP_MAX, b, a > b ? a : b); \
    CHECK_REDUCTION(type, name, NAGAYA_XMP_MIN, b, a < b ? a : b); \
  } while (0)
#define CHECK_NUMBERS(type, name)                                \
  do {                                                           \
    CHECK_REDUCTION(type, name, NAGAYA_XMP_SUM, b, (a + b));     \
    CHECK_REDUCTION(type, name, NAGAYA_XMP_PRODUCT, b, (a * b)); \
    CHECK_REDUCTION(type, name, NAGAYA_XMP_AND, b != 0, a && b); \
    CHECK_REDUCTION(type, name, NAGAYA_XMP_OR, b != 0, a || b);  \
  } while (0)
#define CHECK_ORDERED(type, name)                                        \
  do {                                                                   \
    CHECK_NUMBERS(type, name);                                           \
    CHECK_REDUCTION(type, name, NAGAYA_XMP_MAX, b, a > b ? a : b);       \
    CHECK_REDUCTION(type, name, NAGAYA_XMP_FIRST_MIN, b, a < b ? a : b); \
  } while (0)

static void check_reductions(void) {
  const long tag = 3, *const async = draw(&state, 2) == 0 ? NULL : &tag;
  CHECK_REDUCTION(bool, NAGAYA_XMP_BOOL, NAGAYA_XMP_OR, b != 0, a || b);
  CHECK_REDUCTION(bool, NAGAYA_XMP_BOOL, NAGAYA_XMP_BIT_XOR, b, (a ^ b));
  CHECK_INTEGERS(signed char, NAGAYA_XMP_CHAR);
  CHECK_INTEGERS(unsigned char, NAGAYA_XMP_UNSIGNED_CHAR);
  CHECK_INTEGERS(short, NAGAYA_XMP_SHORT);
  CHECK_INTEGERS(unsigned short, NAGAYA_XMP_UNSIGNED_SHORT);
  CHECK_INTEGERS(int, NAGAYA_XMP_INT);
  CHECK_INTEGERS(unsigned, NAGAYA_XMP_UNSIGNED);
  CHECK_INTEGERS(long, NAGAYA_XMP_LONG);
  CHECK_INTEGERS(unsigned long, NAGAYA_XMP_UNSIGNED_LONG);
  CHECK_ORDERED(float, NAGAYA_XMP_FLOAT);
  CHECK_ORDERED(double, NAGAYA_XMP_DOUBLE);
  CHECK_ORDERED(long double, NAGAYA_XMP_LONG_DOUBLE);
  CHECK_NUMBERS(float complex, NAGAYA_XMP_FLOAT_COMPLEX);
  CHECK_NUMBERS(double complex, NAGAYA_XMP_DOUBLE_COMPLEX);
  CHECK_NUMBERS(long double complex, NAGAYA_XMP_LONG_DOUBLE_COMPLEX);
}

static void check_located(nagaya_xmp_operation operation) {
  const int wants_max = operation == NAGAYA_XMP_FIRST_MAX || operation == NAGAYA_XMP_LAST_MAX;
  const int wants_last = operation == NAGAYA_XMP_LAST_MAX || operation == NAGAYA_XMP_LAST_MIN;
  double mine[2] = {0, 0}, best[2] = {0, 0};
  int winner[2] = {0, 0};
  const int has_iterations = draw(&state, 2) == 0;
  long iteration[size];
  for (int rank = 0; rank < size; ++rank) iteration[rank] = has_iterations ? draw(&state, 4) : 0;
  for (int n = 0; n < 2; ++n)
    for (int rank = 0; rank < size; ++rank) {
      const double value = draw(&state, 3);
      const int is_better = wants_max ? value > best[n] : value < best[n];
      const long later = iteration[rank] - iteration[winner[n]];
      const int is_chosen = wants_last ? later >= 0 : later < 0;
      if (rank == 0 || is_better || (value == best[n] && is_chosen)) {
        best[n] = value;
        winner[n] = rank;
      }
      if (rank == own) mine[n] = value;
    }
  short i[2] = {(short)(10 * own), (short)(10 * own + 1)};
  long j[2] = {-own, own * 1000000000L};
  const nagaya_xmp_location location[] = {{i, sizeof i}, {j, sizeof j}};
  const long own_iteration[] = {-7, iteration[own]};
  const nagaya_xmp_locations locations = {2, location, has_iterations ? 2 : 0, own_iteration};
  nagaya_xmp_reduce("collectives.c:3:1", operation, NAGAYA_XMP_DOUBLE, mine, 2, &locations, NULL,
                    NULL);
  for (int n = 0; n < 2; ++n) EXPECT(mine[n] == best[n] && i[n] == 10 * winner[n] + n);
  EXPECT(j[0] == -winner[0] && j[1] == winner[1] * 1000000000L);
}

/* ---- grids ------------------------------------------------------------------------------- */

/* Sums along one dimension, which the other one's `*` splits. */
static void check_split(const nagaya_xmp_nodes* p, const long extent[2], const long at[2]) {
  nagaya_xmp_on on = {.nodes = p, .dimensions = 2};
  on.subscript[0].kind = NAGAYA_XMP_STAR;
  on.subscript[1].kind = NAGAYA_XMP_ALL;
  long sum = own;
  nagaya_xmp_reduce("collectives.c:4:1", NAGAYA_XMP_SUM, NAGAYA_XMP_LONG, &sum, 1, NULL, &on, NULL);
  EXPECT_EQUAL(sum, extent[1] * at[0] * extent[1] + extent[1] * (extent[1] - 1) / 2);
  nagaya_xmp_barrier("collectives.c:5:1", &on);
}

static void check_bcast(const nagaya_xmp_nodes* p, const long extent[2]) {
  const long i = draw(&state, (uint32_t)extent[0]), j = draw(&state, (uint32_t)extent[1]);
  const nagaya_xmp_on from = {
      .nodes = p, .dimensions = 2, .subscript = {range(i, i, 1), range(j, j, 1)}};
  const long tag = 5, *const async = draw(&state, 2) == 0 ? NULL : &tag;
  int data[100];
  for (int n = 0; n < 100; ++n) data[n] = own * 100 + n;
  nagaya_xmp_bcast("collectives.c:6:1", data, sizeof data, &from, NULL, async);
  if (async != NULL)
    while (!xmp_test_async(5)) continue;
  for (int n = 0; n < 100; ++n) EXPECT_EQUAL(data[n], (i * extent[1] + j) * 100 + n);
  data[0] = own;
  nagaya_xmp_bcast("collectives.c:7:1", data, sizeof data[0], NULL, NULL, NULL);
  EXPECT_EQUAL(data[0], 0);
}

/* A task on a section, another one in it, and nodes that are made of it. */
static void check_task(const nagaya_xmp_nodes* p, const long extent[2], const long at[2]) {
  const long low = draw(&state, (uint32_t)extent[1]);
  const long high = low + draw(&state, (uint32_t)(extent[1] - low));
  const long step = 1 + draw(&state, 2), columns = (high - low) / step + 1;
  nagaya_xmp_on on = {.nodes = p,
                      .dimensions = 2,
                      .subscript = {{NAGAYA_XMP_ALL, 0, 0, 1}, range(low, high, step)}};
  if (low == 0) on.subscript[1].low = LONG_MIN; /* p[:][:high] */
  if (high == extent[1] - 1) on.subscript[1].high = LONG_MAX;
  const int belongs = at[1] >= low && at[1] <= high && (at[1] - low) % step == 0;
  int entered = nagaya_xmp_enter_task("collectives.c:8:1", &on, 0);
  EXPECT_EQUAL(entered, belongs);
  if (entered) {
    EXPECT_EQUAL(xmp_num_nodes(), extent[0] * columns);
    EXPECT_EQUAL(xmp_node_num(), at[0] * columns + (at[1] - low) / step + 1);
    int one = 1;
    nagaya_xmp_reduce("collectives.c:9:1", NAGAYA_XMP_SUM, NAGAYA_XMP_INT, &one, 1, NULL, NULL,
                      NULL);
    EXPECT_EQUAL(one, xmp_num_nodes());
    const long line = xmp_num_nodes();
    nagaya_xmp_nodes* q = nagaya_xmp_declare_nodes("collectives.c:10:1", "q", 0, 1, &line, NULL, 1);
    const nagaya_xmp_on first = {.nodes = q, .dimensions = 1, .subscript = {range(0, 0, 1)}};
    int inner = nagaya_xmp_enter_task("collectives.c:11:1", &first, 1);
    EXPECT_EQUAL(inner, xmp_node_num() == 1 && at[0] == 0 && at[1] == low);
    if (inner) EXPECT_EQUAL(xmp_num_nodes(), 1);
    nagaya_xmp_leave_task(&inner);
    nagaya_xmp_free_nodes(&q);
  }
  nagaya_xmp_leave_task(&entered);
  EXPECT_EQUAL(xmp_num_nodes(), size);
}

/* Each index is run once, by the processes that have it. */
static void check_loop(const nagaya_xmp_nodes* p, const long extent[2]) {
  enum { MOST = 60 };
  const long low[2] = {(long)draw(&state, 9) - 4, 1};
  const long high[2] = {low[0] + draw(&state, MOST), 1 + draw(&state, 9)};
  const nagaya_xmp_distribution blocks[] = {{.kind = NAGAYA_XMP_BLOCK}, {.kind = NAGAYA_XMP_BLOCK}};
  nagaya_xmp_template* t = nagaya_xmp_declare_template("collectives.c:12:1", "t", 2, NULL, NULL);
  nagaya_xmp_distribute("collectives.c:13:1", t, p, blocks);
  nagaya_xmp_fix_template("collectives.c:14:1", t, low, high, 0);
  const long offset = (long)draw(&state, 5) - 2;
  const long indexes = high[0] - low[0] + 1, from = draw(&state, (uint32_t)indexes);
  long step = 1 + draw(&state, 4), first = low[0] + from - offset, end = high[0] - offset + 1;
  if (draw(&state, 2) == 0) {
    step = -step;
    end = low[0] - offset - 1;
  }
  /* All, or those that have index 1 of the other dimension. */
  const int is_all = draw(&state, 2) == 0;
  nagaya_xmp_on on = {.of_template = t, .dimensions = 2};
  on.subscript[0].kind = NAGAYA_XMP_ALL;
  on.subscript[1] = range(1, 1, 1);
  if (is_all) on.subscript[1].kind = NAGAYA_XMP_ALL;
  int runs[MOST + 1] = {0};
  const nagaya_xmp_range mine =
      nagaya_xmp_loop("collectives.c:15:1", &on, 0, offset, first, end, step);
  for (long i = mine.first; step > 0 ? i < mine.end : i > mine.end; i += step)
    ++runs[i + offset - low[0]];
  nagaya_xmp_reduce("collectives.c:16:1", NAGAYA_XMP_SUM, NAGAYA_XMP_INT, runs, MOST + 1, NULL,
                    NULL, NULL);
  int wanted[MOST + 1] = {0};
  for (long i = first; step > 0 ? i < end : i > end; i += step)
    wanted[i + offset - low[0]] = is_all ? (int)extent[1] : 1;
  EXPECT(memcmp(runs, wanted, sizeof runs) == 0);
  nagaya_xmp_free_template(&t);
}

static void check_inquiries(nagaya_xmp_nodes* p, const long extent[2], const long at[2]) {
  int n;
  void* const d = nagaya_xmp_descriptor_of_nodes(p);
  EXPECT(xmp_nodes_ndims(d, &n) == 0 && n == 2);
  EXPECT(xmp_nodes_size(d, 1, &n) == 0 && n == extent[1]);
  EXPECT(xmp_nodes_size(d, 2, &n) == 0 && n == extent[0]);
  EXPECT(xmp_nodes_size(d, 3, &n) == XMP_FAILURE && n == XMP_UNDEFINED);
  EXPECT(xmp_nodes_index(d, 1, &n) == 0 && n == at[1] + 1);
  EXPECT(xmp_nodes_attr(d, &n) == 0 && n == XMP_ENTIRE_NODES);
  EXPECT(xmp_desc_kind(d, &n) == 0 && n == XMP_DESC_NODES);
  EXPECT(xmp_template_ndims(d, &n) == XMP_FAILURE);
  EXPECT(xmp_all_node_num() == own + 1 && xmp_all_num_nodes() == size);
  const double begin = xmp_wtime();
  EXPECT(xmp_wtick() > 0 && xmp_wtime() >= begin);
}

static void run(void) {
  long extent[2];
  draw_grid(size, extent);
  const long asked[2] = {draw(&state, 2) == 0 ? -1 : extent[0], extent[1]};
  const long at[2] = {own / extent[1], own % extent[1]};
  nagaya_xmp_nodes* p = nagaya_xmp_declare_nodes("collectives.c:17:1", "p", 1, 2, asked, NULL, 0);
  check_inquiries(p, extent, at);
  check_reductions();
  for (int n = NAGAYA_XMP_FIRST_MAX; n <= NAGAYA_XMP_LAST_MIN; ++n)
    check_located((nagaya_xmp_operation)n);
  check_split(p, extent, at);
  check_bcast(p, extent);
  check_task(p, extent, at);
  for (int n = 0; n < 5; ++n) check_loop(p, extent);
  nagaya_xmp_free_nodes(&p);
}

int main(int argc, char** argv) {
  nagaya_xmp_begin();
  nagaya_xmp_begin(); /* nothing happens */
  const int rounds = argc > 1 ? atoi(argv[1]) : 20;
  state = argc > 2 ? (uint64_t)atol(argv[2]) : 1;
  size = xmp_all_num_nodes();
  own = xmp_all_node_num() - 1;
  for (int n = 0; n < rounds; ++n) run();
  nagaya_xmp_barrier("collectives.c:18:1", NULL);
  if (own == 0) printf("%d rounds among %d\n", rounds, size);
  xmp_exit(0);
}
