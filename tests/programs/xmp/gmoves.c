/* SPDX-License-Identifier: BSD-3-Clause */
/* gmoves.c - assignments by gmove: between distributions, sections, elements, variables of each node,
 * arrays on a part of the nodes, in functions, in tasks. */
#include "check.h"

#define N 24
#define M 10

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp template s[M]
#pragma xmp distribute t[block] onto p
#pragma xmp distribute s[block] onto p
static double rows[N][M], columns[N][M], line[N];
#pragma xmp align rows[i][*] with t[i]
#pragma xmp align columns[*][j] with s[j]
#pragma xmp align line[i] with t[i]
#pragma xmp shadow line[1]

static void fill_rows(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) rows[i][j] = 100 * i + j;
}

static void whole(void) {
  fill_rows();
#pragma xmp gmove
  columns[:][:] = rows[:][:];
#pragma xmp loop on s[j]
  for (int j = 0; j < M; j++)
    for (int i = 0; i < N; i++) EXPECT_EQUAL(columns[i][j], 100 * i + j);
}

static void strides(int first, int step) {
  fill_rows();
  double all[2][4];
#pragma xmp gmove
  all[1][:] = rows[first : 4 : step][M - 1];
  for (int n = 0; n < 4; n++) EXPECT_EQUAL(all[1][n], 100 * (first + n * step) + M - 1);
#pragma xmp gmove
  line[N - 1 : 4 : -2] = all[1][0:4];
#pragma xmp loop on t[i]
  for (int i = N - 7; i < N; i += 2) EXPECT_EQUAL(line[i], all[1][(N - 1 - i) / 2]);
}

static void elements(void) {
  fill_rows();
  double one = 0, some[3] = {0, 0, 0};
#pragma xmp gmove
  one = rows[N - 1][2];
  EXPECT_EQUAL(one, 100 * (N - 1) + 2);
#pragma xmp gmove
  some[0:2] = rows[3][4];
  EXPECT(some[0] == 304 && some[1] == 304 && some[2] == 0);
#pragma xmp gmove
  line[:] = rows[5][6];
#pragma xmp gmove
  line[2 : N / 2] = one + 1;
#pragma xmp gmove
  line[1] = some[0];
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    EXPECT_EQUAL(line[i], i == 1 ? 304 : i >= 2 && i < 2 + N / 2 ? one + 1 : 506);
}

static void to_itself(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) line[i] = i;
#pragma xmp gmove
  line[1 : N - 1] = line[0 : N - 1];
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) EXPECT_EQUAL(line[i], i == 0 ? 0 : i - 1);
#pragma xmp gmove
  line[:] = line[N - 1 : N : -1];
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) EXPECT_EQUAL(line[i], i == N - 1 ? 0 : N - 2 - i);
}

static void of_formal(double array[N], double* target, int count) {
#pragma xmp align array[i] with t[i]
#pragma xmp shadow array[1]
  int times = 0;
#pragma xmp gmove async(times + 3)
  target[times++ : count] = array[N - count:];
#pragma xmp wait_async(3)
  EXPECT_EQUAL(times, 1);
}

static void in_functions(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) line[i] = 7 * i;
  double some[5];
  of_formal(line, some, 5);
  for (int n = 0; n < 5; n++) EXPECT_EQUAL(some[n], 7 * (N - 5 + n));
}

static void on_a_part(void) {
  const int nodes = xmp_all_num_nodes(), half = (nodes + 1) / 2;
#pragma xmp nodes q[half] = p[nodes - half : half]
#pragma xmp template u[N]
#pragma xmp distribute u[block] onto q
  double part[N];
#pragma xmp align part[i] with u[i]
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) line[i] = 3 * i;
#pragma xmp gmove
  part[:] = line[:];
#pragma xmp loop on u[i]
  for (int i = 0; i < N; i++) {
    EXPECT_EQUAL(part[i], 3 * i);
    part[i]++;
  }
#pragma xmp gmove
  line[0:3] = part[N - 3:3];
#pragma xmp loop on t[i]
  for (int i = 0; i < 3; i++) EXPECT_EQUAL(line[i], 3 * (N - 3 + i) + 1);
#pragma xmp task on q
  {
    double inside[N];
#pragma xmp gmove in
    inside[:] = part[:];
    for (int i = 0; i < N; i++) EXPECT_EQUAL(inside[i], 3 * i + 1);
  }
}

static void directives_array(void) {
  fill_rows();
#pragma xmp array on t[:]
  line[:] = rows[:][1] * 2;
#pragma xmp array on t[2 : N - 2]
  line[2 : N - 2] = line[2:] + rows[2 : N - 2][0] + own_number() * 0;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) EXPECT_EQUAL(line[i], 200 * i + 2 + (i >= 2 ? 100 * i : 0));
  for (int j = 0; j < M; j++) {
#pragma xmp array on t[:]
    rows[:][0 : 2 : M / 2] = j;
  }
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) EXPECT_EQUAL(rows[i][j], j % (M / 2) == 0 ? M - 1 : 100 * i + j);
}

static int bases;
static int base(void) {
  bases++;
  return 2;
}

/* Bases that have effects are computed once; `on t` is the whole template. */
static void directive_array_with_effects(void) {
  const int two = 2;
  fill_rows();
#pragma xmp array on t[2 : N - 2]
  line[base() : N - 2] = rows[base() : N - 2][two];
  EXPECT_EQUAL(bases, 2);
#pragma xmp loop on t[i]
  for (int i = 2; i < N; i++) EXPECT_EQUAL(line[i], 100 * i + two);
#pragma xmp array on t
  line[:] = 5;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) EXPECT_EQUAL(line[i], 5);
}

/* Sections of the assignment and of the on clause meet as they are written. */
static void directive_array_in_parentheses(void) {
  int grid[N][M];
#pragma xmp template two(0 : N - 1, 0 : M - 1)
#pragma xmp distribute two(block, *) onto p
#pragma xmp align grid[i][j] with two(i, j)
#pragma xmp array on two(:, :)
  grid[:][:] = 7;
#pragma xmp loop on two(i, *)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) EXPECT_EQUAL(grid[i][j], 7);
}

/* An array whose type is not that of the other side, and sections between plain subscripts. */
static void converted_and_mixed(void) {
  const int plane[2] = {2, 0};
  const long three = 3;
  static double cube[N][4][5];
#pragma xmp align cube[i][*][*] with t[i]
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) line[i] = 1;
#pragma xmp gmove
  line[1] = three;
#pragma xmp array on t[0:N]
  line[0:N] += line[0:N];
#pragma xmp array on t[0:N]
  cube[0:N][plane[0]][0:5] = 7;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    EXPECT_EQUAL(line[i], i == 1 ? 6 : 2);
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 5; k++) EXPECT_EQUAL(cube[i][j][k], j == 2 ? 7 : 0);
  }
}

int main(void) {
  whole();
  strides(1, 5);
  strides(N - 1, -7);
  elements();
  to_itself();
  in_functions();
  directive_array_in_parentheses();
  converted_and_mixed();
  on_a_part();
  directives_array();
  directive_array_with_effects();
  return say_ok();
}
