/* SPDX-License-Identifier: BSD-3-Clause */
/* nests.c - nests of loops on templates of two and three dimensions, block, block(n) and `*`, in
 * both syntaxes: each iteration is made once by somebody. */
#include "check.h"

#define NI 11
#define NJ 7
#define NK 5

#pragma xmp nodes p[*][1]
#pragma xmp nodes q(1, 1, *)
#pragma xmp nodes line[*]

#pragma xmp template t2[NI][NJ]
#pragma xmp distribute t2[block][block] onto p
#pragma xmp template square[NI][NI]
#pragma xmp distribute square[block][block] onto p
#pragma xmp template t2_columns[NI][NJ]
#pragma xmp distribute t2_columns[*][block] onto line
#pragma xmp template t3(0 : NK - 1, 0 : NJ - 1, 0 : NI - 1)
#pragma xmp distribute t3(block, block, block) onto q

static int times[NI][NJ][NK], times_wide[64];

static void expect_each(int planes) {
#pragma xmp reduction(+ : times)
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++)
      for (int k = 0; k < NK; k++) {
        EXPECT_EQUAL(times[i][j][k], k < planes);
        times[i][j][k] = 0;
      }
}

static void two_dimensions(void) {
#pragma xmp loop(i, j) on t2[i][j]
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++) times[i][j][0]++;
  expect_each(1);
#pragma xmp loop(i, j) on t2[i][j]
  for (int j = NJ - 1; j >= 0; j--)
    for (int i = 0; i < NI; i++) times[i][j][0]++;
  expect_each(1);
#pragma xmp loop(i, j) on t2_columns[i][j]
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++) times[i][j][0]++;
  expect_each(1);
}

/* One directive for each loop; the dimension that is left out belongs to all. */
static void two_directives(void) {
#pragma xmp loop on t2[i][:]
  for (int i = 0; i < NI; i++) {
#pragma xmp loop on t2[:][j]
    for (int j = 0; j < NJ; j++) times[i][j][0]++;
  }
  expect_each(1);
}

static int width;
static void narrow(int* bound, int last) {
  if (last) --*bound;
}
static void narrow_width(int last) {
  narrow(&width, last);
}

/* Each of the process's rows is an iteration shorter than the one before. */
static void expect_narrower(int made, int rows) {
  EXPECT_EQUAL(made, rows * NI - rows * (rows - 1) / 2);
}

/* Inner bounds that the nest changes without an assignment to their names. */
static void bounds_that_change(void) {
  struct {
    int width;
  } one = {NI};
  int widths[1] = {NI}, local = NI, made[4] = {0}, rows = 0;
  width = NI;
#pragma xmp loop(i, j) on square[i][j]
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < width; j++) made[0]++, rows += j == 0, narrow_width(j == width - 1);
#pragma xmp loop(i, j) on square[i][j]
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < local; j++) made[1]++, narrow(&local, j == local - 1);
#pragma xmp loop(i, j) on square[i][j]
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < widths[0]; j++) {
      made[2]++;
      if (j == widths[0] - 1) widths[0]--;
    }
#pragma xmp loop(i, j) on square[i][j]
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < one.width; j++) {
      made[3]++;
      if (j == one.width - 1) one.width--;
    }
  for (int kind = 0; kind < 4; kind++) expect_narrower(made[kind], rows);
}

/* A loop around the distributed one gives its bound. */
static void triangle(void) {
  int i = 0, made = 0;
#pragma xmp loop(j) on square[:][j] reduction(+ : made)
  for (i = 0; i < NI; i++)
    for (int j = 0; j < i; j++) made++;
  EXPECT_EQUAL(made, NI * (NI - 1) / 2);
  made = 0;
#pragma xmp loop on square[:][j] reduction(+ : made)
  for (int k = 0; k < NI; k++) {
    for (int j = k; j < NI; j++) made++;
  }
  EXPECT_EQUAL(made, NI * (NI + 1) / 2);
}

static int row;
static void next_row(void) {
  row++;
}

/* The nodes that reduce are those that the clause means before the loop. */
static void on_clause_that_changes(void) {
  if (xmp_all_num_nodes() < 2) return;
#pragma xmp nodes rows[*][2]
#pragma xmp template few[4][4]
#pragma xmp distribute few[block][block] onto rows
  int sum = 0, own_row = 0;
#pragma xmp task on few[row][:] nocomm
  own_row = 1;
#pragma xmp loop on few[row][j] reduction(+ : sum)
  for (int j = 0; j < 4; j++) sum += j, next_row();
  EXPECT_EQUAL(sum, own_row ? 6 : 0);
}

/* Nobody asks for the inner bounds, which are of no use. */
static void empty_outer_loops(void) {
  int rows = 0, each = 0, wide = 2 * NI;
#pragma xmp loop(i, j) on square[i][j]
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < NI / each; j++) rows++;
#pragma xmp loop(i, j) on square[i][j]
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < wide; j++) rows++;
  EXPECT_EQUAL(rows, 0);
}

static void three_dimensions(void) {
#pragma xmp loop(k, j, i) on t3(k, j, i)
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++)
      for (int k = 0; k < NK; k++) times[i][j][k]++;
  expect_each(NK);
#pragma xmp loop(i, k) on t3(k, :, i)
  for (int i = 0; i < NI; i++)
    for (int k = 0; k < NK; k++)
      for (int j = 0; j < NJ; j++) times[i][j][k]++;
  expect_each(NK);
}

/* 64 iterations in blocks of 13 need 5 nodes; with fewer this template does not fit. */
static void blocks_of_a_width(void) {
  if (xmp_all_num_nodes() < 5) return;
#pragma xmp template wide[64]
#pragma xmp distribute wide[block(13)] onto line
  int own = 0;
#pragma xmp loop on wide[i]
  for (int i = 0; i < 64; i++) {
    EXPECT_EQUAL(own_number(), i / 13);
    times_wide[i]++, own++;
  }
  EXPECT_EQUAL(own, own_number() < 4 ? 13 : own_number() == 4 ? 12 : 0);
#pragma xmp reduction(+ : times_wide)
  for (int i = 0; i < 64; i++) EXPECT_EQUAL(times_wide[i], 1);
}

int main(void) {
  two_dimensions();
  two_directives();
  bounds_that_change();
  triangle();
  on_clause_that_changes();
  empty_outer_loops();
  three_dimensions();
  blocks_of_a_width();
  return say_ok();
}
