/* SPDX-License-Identifier: BSD-3-Clause */
/* halos.c - reflect in one and two dimensions: shadows that differ on both sides, a smaller width,
 * periodic edges, corners and orthogonal, several arrays, async. Each element is its own index, so
 * that every element of a halo shows whose it is. */
#include "check.h"

#define N 64
#define M 6

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
#pragma xmp nodes grid[*][1]
#pragma xmp template t2[N][N]
#pragma xmp distribute t2[block][block] onto grid

static int uneven[N], narrow[N], ring[N], rows[N][M], later[N];
static double field[N][N];

#pragma xmp align uneven[i] with t[i]
#pragma xmp shadow uneven[1:2]
#pragma xmp align narrow[i] with t[i]
#pragma xmp shadow narrow[2]
#pragma xmp align ring[i] with t[i]
#pragma xmp shadow ring[1:2]
#pragma xmp align rows[i][*] with t[i]
#pragma xmp shadow rows[1][0]
#pragma xmp align later[i] with t[i]
#pragma xmp shadow later[1]
#pragma xmp align field[i][j] with t2[i][j]
#pragma xmp shadow field[2][1:0]

/* The part of [0, N) that the caller owns. */
static int first = N, last = -1;

static void find_part(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    if (i < first) first = i;
    if (i > last) last = i;
  }
}

static void of_one_dimension(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) uneven[i] = narrow[i] = ring[i] = i;
#pragma xmp reflect(uneven)
#pragma xmp reflect(narrow) width(1 : 0)
#pragma xmp reflect(ring) width(/periodic/ 1 : 2)
#pragma xmp loop on t[i]
  for (int i = 1; i < N - 2; i++) {
    EXPECT_EQUAL(uneven[i - 1], i - 1);
    EXPECT_EQUAL(uneven[i + 1], i + 1);
    EXPECT_EQUAL(uneven[i + 2], i + 2);
  }
#pragma xmp loop on t[i]
  for (int i = 1; i < N; i++) EXPECT_EQUAL(narrow[i - 1], i - 1);
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    EXPECT_EQUAL(ring[i - 1], (i + N - 1) % N);
    EXPECT_EQUAL(ring[i + 1], (i + 1) % N);
    EXPECT_EQUAL(ring[i + 2], (i + 2) % N);
  }
}

/* Elements beyond the width stay as they were. */
static void of_a_smaller_width(void) {
  const int is_inner = first >= 2 && last < N - 2;
  if (is_inner) narrow[first - 1] = narrow[first - 2] = narrow[last + 1] = narrow[last + 2] = -7;
#pragma xmp reflect(narrow) width(1)
  if (!is_inner) return;
  EXPECT_EQUAL(narrow[first - 1], first - 1);
  EXPECT_EQUAL(narrow[last + 1], last + 1);
  EXPECT_EQUAL(narrow[first - 2], -7);
  EXPECT_EQUAL(narrow[last + 2], -7);
}

/* Steps that change all data: none may be read by a neighbour before it is there, or after. */
static void of_many_steps(void) {
  for (int step = 0; step < 200; step++) {
#pragma xmp loop on t[i]
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++) rows[i][j] = 1000 * step + 10 * i + j;
#pragma xmp reflect(rows)
#pragma xmp loop on t[i]
    for (int i = 1; i < N - 1; i++)
      for (int j = 0; j < M; j++) {
        EXPECT_EQUAL(rows[i - 1][j], 1000 * step + 10 * (i - 1) + j);
        EXPECT_EQUAL(rows[i + 1][j], 1000 * step + 10 * (i + 1) + j);
      }
  }
}

static void of_two_dimensions(void) {
#pragma xmp loop(i, j) on t2[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) field[i][j] = 100 * i + j;
#pragma xmp reflect(field, narrow)
#pragma xmp loop(i, j) on t2[i][j]
  for (int i = 2; i < N - 2; i++)
    for (int j = 1; j < N; j++)
      for (int k = -2; k <= 2; k++)
        EXPECT(field[i + k][j] == 100 * (i + k) + j &&
               field[i + k][j - 1] == 100 * (i + k) + j - 1);
}

/* The caller's halo is complete at wait_async, which is after other work and another reflect. */
static void of_a_later_time(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) later[i] = 3 * i, uneven[i] = -i;
#pragma xmp reflect(later) async(5)
  int sum = 0;
#pragma xmp loop on t[i] reduction(+ : sum)
  for (int i = 0; i < N; i++) sum += later[i];
#pragma xmp reflect(uneven) async(6)
#pragma xmp wait_async(5, 6)
  EXPECT_EQUAL(sum, 3 * N * (N - 1) / 2);
#pragma xmp loop on t[i]
  for (int i = 1; i < N - 2; i++) {
    EXPECT(later[i - 1] == 3 * (i - 1) && later[i + 1] == 3 * (i + 1));
    EXPECT(uneven[i - 1] == 1 - i && uneven[i + 2] == -i - 2);
  }
}

int main(void) {
  find_part();
  of_one_dimension();
  of_a_smaller_width();
  of_many_steps();
  of_two_dimensions();
  of_a_later_time();
  return say_ok();
}
