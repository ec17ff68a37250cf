/* SPDX-License-Identifier: BSD-3-Clause */
/* transposition.c - b = transpose of a; both have blocks of rows.
 *
 *   xmpcc -O3 transposition.c -o transposition
 *   nagaya run -n 4 ./transposition [TIMES]
 *
 * A gmove gives each process a block of the columns of a: every process gets a part of it from every
 * other one. These columns become rows of b without communication. */
#include <stdio.h>
#include <stdlib.h>

#include "figures.h"

#ifndef N
#define N 2048
#endif
#define TILE 16 /* the transposition of a block goes by tiles, which the first cache holds */

static double a[N][N], columns[N][N], b[N][N];

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
#pragma xmp align a[i][*] with t[i]
#pragma xmp align columns[*][j] with t[j]
#pragma xmp align b[j][*] with t[j]

static double value(int i, int j) {
  return (double)i * N + j;
}

static void transpose(void) {
#pragma xmp gmove
  columns[:][:] = a[:][:];
  for (int tile = 0; tile < N; tile += TILE) {
    const int end = tile + TILE < N ? tile + TILE : N;
#pragma xmp loop on t[j]
    for (int j = 0; j < N; j++)
      for (int i = tile; i < end; i++) b[j][i] = columns[i][j];
  }
}

int main(int argc, char** argv) {
  const int times = argc > 1 ? atoi(argv[1]) : 10;
  long wrong = 0;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = value(i, j);
#pragma xmp barrier
  double time = -seconds();
  for (int n = 0; n < times; n++) transpose();
#pragma xmp barrier
  time += seconds();
#pragma xmp loop on t[j] reduction(+ : wrong)
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) wrong += b[j][i] != value(i, j);
  if (xmp_all_node_num() == 1)
    printf("transposition: %d x %d, %d nodes: %.3f ms, %s\n", N, N, xmp_all_num_nodes(),
           1e3 * time / times, wrong == 0 ? "PASS" : "FAIL");
  return wrong != 0;
}
