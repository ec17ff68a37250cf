/* SPDX-License-Identifier: BSD-3-Clause */
/* distributions.c - accesses and inquiries that loops along their own index do not meet: subscripts
 * of other indexes, sizes of run time, pointers. */
#include <stdlib.h>

#include "check.h"

enum { kNodesMost = 64, N = 100, kWidth = 3 };

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[cyclic] onto p
#pragma xmp template u[-5 : N]
#pragma xmp distribute u[cyclic(kWidth)] onto p
#pragma xmp template v[N]
#pragma xmp distribute v[gblock(*)] onto p

static int a[N], b[N - 10], g[N];
#pragma xmp align a[i] with t[i]
#pragma xmp align b[i] with u[i - 3]
#pragma xmp align g[i] with v[i]
#pragma xmp shadow g[1]
#pragma xmp nodes q[*][1]
#pragma xmp template of_q[20][9], of_r[20][9]
#pragma xmp distribute of_q[cyclic][block] onto q
#pragma xmp distribute of_r[*][cyclic(2)] onto p
static int full[N], on_q[20][9], on_r[20][9];
#pragma xmp align full[i] with t[i]
#pragma xmp shadow full[*]
#pragma xmp align on_q[i][j] with of_q[i][j]
#pragma xmp shadow on_q[*][1]
#pragma xmp align on_r[i][j] with of_r[i][j]
#pragma xmp shadow on_r[0][*]
static long (*rows)[2];
#pragma xmp align rows[i][*] with u[i - 5]

/* The index that is `rounds` rounds of the nodes further is on the same node. */
static void other_subscripts_of_cyclic_dimensions(void) {
  const int nodes = xmp_num_nodes(), first = xmpc_node_num();
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) a[i] = i * i;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    if (i + nodes >= N) continue;
    const int next = i + nodes;
    EXPECT_EQUAL(a[next], next * next);
    EXPECT_EQUAL(a[i + nodes] - a[i], nodes * (2 * i + nodes));
  }
  /* Without a loop directive. */
  for (int i = first; i < N; i += nodes) EXPECT_EQUAL(a[i], i * i);
}

static void loops_of_steps_that_are_not_constant(int step) {
  int sum = 0, expected = 0;
#pragma xmp loop on u[i - 3] reduction(+ : sum)
  for (int i = N - 11; i >= 0; i -= step) b[i] = i, sum += b[i];
  for (int i = N - 11; i >= 0; i -= step) expected += i;
  EXPECT_EQUAL(sum, expected);
  sum = 0;
#pragma xmp loop on t[i] reduction(+ : sum)
  for (int i = 1; i < N; i += step) sum += a[i];
  for (int i = 1; i < N; i += step) expected += i * i;
  for (int i = N - 11; i >= 0; i -= step) expected -= i;
  EXPECT_EQUAL(sum, expected);
}

static void full_shadows_of_cyclic_dimensions(void) {
  int size = -1, most;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) full[i] = 3 * i;
#pragma xmp reflect(full)
  for (int i = 0; i < N; i++) EXPECT_EQUAL(full[i], 3 * i);
  xmp_array_lsize(xmp_desc_of(full), 1, &size);
  EXPECT_EQUAL(size, (N - xmpc_node_num() + xmp_num_nodes() - 1) / xmp_num_nodes());
#pragma xmp gmove
  a[0:N] = full[N - 1:N:-1];
#pragma xmp gmove
  full[0:10:2] = a[0:10];
#pragma xmp loop on t[i]
  for (int i = 0; i < 20; i++) EXPECT_EQUAL(full[i], i % 2 == 0 ? 3 * (N - 1 - i / 2) : 3 * i);
#pragma xmp loop on of_q[i][j]
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 9; j++) on_q[i][j] = 10 * i + j;
#pragma xmp loop on of_r[i][j]
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 9; j++) on_r[i][j] = 10 * i + j;
#pragma xmp reflect(on_q, on_r)
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 9; j++) EXPECT(on_q[i][j] == 10 * i + j && on_r[i][j] == 10 * i + j);
  most = 0;
#pragma xmp loop on of_r[i][j] reduction(max : most)
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 9; j++) most = on_r[19 - i][8 - j] > most ? on_r[19 - i][8 - j] : most;
  EXPECT_EQUAL(most, 198);
}

/* Node n has n % 5 indexes, the last one the others. */
static void sizes_of_run_time(void) {
  static long sizes[kNodesMost];
  const int nodes = xmp_num_nodes();
  int left = N;
  for (int n = 0; n < nodes - 1; n++) {
    sizes[n] = n < left ? n % 5 : left;
    left -= (int)sizes[n];
  }
  sizes[nodes - 1] = left;
#pragma xmp template_fix [gblock(sizes)] v
#pragma xmp loop on v[i]
  for (int i = 0; i < N; i++) g[i] = i;
#pragma xmp reflect(g)
#pragma xmp loop on v[i]
  for (int i = 1; i < N - 1; i++) EXPECT_EQUAL(g[i - 1] + g[i + 1], 2 * i);
  int map[kNodesMost], own, format;
  EXPECT_EQUAL(xmp_dist_gblockmap(xmp_desc_of(v), 1, map), 0);
  for (int n = 0; n < nodes; n++) EXPECT_EQUAL(map[n], sizes[n]);
  EXPECT_EQUAL(xmp_array_lsize(xmp_desc_of(g), 1, &own), 0);
  EXPECT_EQUAL(own, sizes[xmpc_node_num()]);
  EXPECT_EQUAL(xmp_dist_format(xmp_desc_of(v), 1, &format), 0);
  EXPECT_EQUAL(format, XMP_GBLOCK);
  EXPECT_EQUAL(xmp_dist_gblockmap(xmp_desc_of(t), 1, map), XMP_FAILURE);
}

static void inquiries_of_cyclic_dimensions(void) {
  int own = 0, format, width, size, place;
  for (int i = 0; i < N - 10; i++) own += (i - 3 + 5) / kWidth % xmp_num_nodes() == xmpc_node_num();
  EXPECT_EQUAL(xmp_array_lsize(xmp_desc_of(b), 1, &size), 0);
  EXPECT_EQUAL(size, own);
  EXPECT_EQUAL(xmp_dist_format(xmp_desc_of(u), 1, &format), 0);
  EXPECT_EQUAL(format, XMP_CYCLIC);
  EXPECT_EQUAL(xmp_dist_blocksize(xmp_desc_of(u), 1, &width), 0);
  EXPECT_EQUAL(width, kWidth);
  void* block;
  EXPECT_EQUAL(xmp_array_laddr(xmp_desc_of(b), &block), 0);
#pragma xmp loop on u[i - 3]
  for (int i = 0; i < N - 10; i++) {
    EXPECT_EQUAL(xmp_array_gtol(xmp_desc_of(b), 1, i, &place), 0);
    EXPECT((int*)block + place == &b[i]);
  }
}

static long sum_of(long (*pointer)[2], int column) {
#pragma xmp align pointer[i][*] with u[i - 5]
  long sum = 0;
#pragma xmp loop on u[i - 5] reduction(+ : sum)
  for (int i = 0; i < N; i++) sum += pointer[i][column];
  return sum;
}

static void pointers(void) {
  for (int round = 0; round < 3; round++) {
    rows = (long(*)[2])xmp_malloc(xmp_desc_of(rows), N, 2);
    EXPECT_EQUAL(sum_of(rows, 1), 0);
#pragma xmp loop on u[i - 5]
    for (int i = 0; i < N; i++) rows[i][0] = i, rows[i][1] = 2 * i;
    EXPECT_EQUAL(sum_of(rows, 0), N * (N - 1) / 2);
    EXPECT_EQUAL(sum_of(rows, 1), N * (N - 1));
    if (round == 1)
      free(rows);
    else
      xmp_free(xmp_desc_of(rows));
  }
}

int main(int argc, char** argv) {
  (void)argv;
  other_subscripts_of_cyclic_dimensions();
  loops_of_steps_that_are_not_constant(argc + 2);
  inquiries_of_cyclic_dimensions();
  full_shadows_of_cyclic_dimensions();
  sizes_of_run_time();
  pointers();
  return say_ok();
}
