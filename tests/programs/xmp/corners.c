/* SPDX-License-Identifier: BSD-3-Clause */
/* corners.c - a grid of nodes whose blocks meet in corners: these come with reflect, and stay as
 * they are with orthogonal; periodic edges in both dimensions; three dimensions. */
#include "check.h"

#define N 24
#define K 4

static int rows_of_nodes(void) {
  const int nodes = xmp_all_num_nodes();
  return nodes % 4 == 0 ? nodes / 4 : nodes % 2 == 0 ? nodes / 2 : 1;
}

static int wrapped(int i) {
  return (i + N) % N;
}

static void of_two_dimensions(int rows) {
#pragma xmp nodes p[rows][xmp_all_num_nodes() / rows]
#pragma xmp template t[N][N]
#pragma xmp distribute t[block][block] onto p
  int field[N][N], cross[N][N];
#pragma xmp align field[i][j] with t[i][j]
#pragma xmp shadow field[1][1]
#pragma xmp align cross[i][j] with t[i][j]
#pragma xmp shadow cross[1][1]

  int top = N, bottom = -1, left = N, right = -1;
#pragma xmp loop(i, j) on t[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      field[i][j] = cross[i][j] = 100 * i + j;
      if (i < top) top = i;
      if (i > bottom) bottom = i;
      if (j < left) left = j;
      if (j > right) right = j;
    }
  const int has_part = bottom >= 0; /* of few rows, the last nodes have none */
  if (has_part) cross[top - 1][left - 1] = cross[bottom + 1][right + 1] = -5;
#pragma xmp reflect(field) width(/periodic/ 1, /periodic/ 1)
#pragma xmp reflect(cross) width(/periodic/ 1, /periodic/ 1) orthogonal
  if (!has_part) return;
  EXPECT(cross[top - 1][left - 1] == -5 && cross[bottom + 1][right + 1] == -5);
  for (int i = top - 1; i <= bottom + 1; i++)
    for (int j = left - 1; j <= right + 1; j++) {
      const int wanted = 100 * wrapped(i) + wrapped(j);
      EXPECT_EQUAL(field[i][j], wanted);
      if ((i >= top && i <= bottom) || (j >= left && j <= right)) EXPECT_EQUAL(cross[i][j], wanted);
    }
}

static void of_three_dimensions(int rows) {
#pragma xmp nodes p(1, xmp_all_num_nodes() / rows, rows)
#pragma xmp template t(0 : K - 1, 0 : N - 1, 0 : N - 1)
#pragma xmp distribute t(block, block, block) onto p
  float field[N][N][K];
#pragma xmp align field[i][j][k] with t(k, j, i)
#pragma xmp shadow field[1][1:2][1]
#pragma xmp loop(i, j, k) on t(k, j, i)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < K; k++) field[i][j][k] = (float)(i * N * K + j * K + k);
#pragma xmp reflect(field)
#pragma xmp loop(i, j, k) on t(k, j, i)
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 2; j++)
      for (int k = 1; k < K - 1; k++)
        for (int near = 0; near < 36; near++) {
          const int a = i + near / 12 - 1, b = j + near / 3 % 4 - 1, c = k + near % 3 - 1;
          EXPECT(field[a][b][c] == (float)(a * N * K + b * K + c));
        }
}

int main(void) {
  const int rows = rows_of_nodes();
  of_two_dimensions(rows);
  of_three_dimensions(rows);
  return say_ok();
}
