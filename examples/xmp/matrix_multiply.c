/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix_multiply.c - c = a b on a grid of nodes. A node has a block of c, the rows of a and the
 * columns of b that its block needs: the nodes of a row of the grid have copies of the same rows of
 * a, the nodes of a column copies of the same columns of b. So no communication is left.
 *
 *   xmpcc -O3 -DPJ=2 matrix_multiply.c -o matrix_multiply
 *   nagaya run -n 4 ./matrix_multiply
 *
 * PJ is the number of nodes in a row of the grid. */
#include <stdio.h>

#include "figures.h"

#ifndef N
#define N 300
#endif
#ifndef PJ
#define PJ 1
#endif

static double a[N][N], b[N][N], c[N][N];

#pragma xmp nodes p[*][PJ]
#pragma xmp template t[N][N]
#pragma xmp distribute t[block][block] onto p
#pragma xmp align a[i][*] with t[i][*]
#pragma xmp align b[*][j] with t[*][j]
#pragma xmp align c[i][j] with t[i][j]

static void initialize(void) {
#pragma xmp loop on t[i][*]
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++) a[i][k] = i + k;
#pragma xmp loop on t[*][j]
  for (int j = 0; j < N; j++)
    for (int k = 0; k < N; k++) b[k][j] = k - j;
}

static void multiply(void) {
#pragma xmp loop on t[i][*]
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++) {
#pragma xmp loop on t[*][j]
      for (int j = 0; j < N; j++) c[i][j] += a[i][k] * b[k][j];
    }
}

/* All numbers are whole and below 2^53: the sum over k of (i + k)(k - j) is exact. */
static long count_wrong(void) {
  const double sum = N * (N - 1.0) / 2, squares = N * (N - 1.0) * (2.0 * N - 1) / 6;
  long wrong = 0;
#pragma xmp loop(i, j) on t[i][j] reduction(+ : wrong)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) wrong += c[i][j] != squares + (i - j) * sum - (double)i * j * N;
  return wrong;
}

int main(void) {
  initialize();
#pragma xmp barrier
  const double start = seconds();
  multiply();
#pragma xmp barrier
  const double time = seconds() - start;
  const long wrong = count_wrong();
  if (xmp_all_node_num() == 1)
    printf("matrix_multiply: %d x %d, %d nodes: %.6f s, %.3f Gflop/s, %s\n", N, N,
           xmp_all_num_nodes(), time, 2e-9 * N * N * N / time, wrong == 0 ? "PASS" : "FAIL");
  return wrong != 0;
}
