/* SPDX-License-Identifier: BSD-3-Clause */
/* reflect.c - the cost of the shadow: the time of a reflect of rows of M points by itself.
 *
 *   xmpcc -O3 reflect.c -o reflect
 *   nagaya run -n 2 ./reflect [TIMES]
 *
 * Before each reflect every node writes its rows anew, and after it checks its neighbours'. All
 * nodes begin at a barrier; the slowest one counts. */
#include <stdio.h>
#include <stdlib.h>

#include "figures.h"

#ifndef N
#define N 64
#endif
#ifndef M
#define M 10000
#endif

double u[N][M];

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
#pragma xmp align u[i][*] with t[i]
#pragma xmp shadow u[1][0]

static double value(int turn, int i, int j) {
  return 1e6 * turn + 1e3 * i + j % 1000;
}

static void write_rows(int turn) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) u[i][j] = value(turn, i, j);
}

static long count_wrong(int turn) {
  long wrong = 0;
#pragma xmp loop on t[i]
  for (int i = 1; i < N - 1; i++)
    for (int j = 0; j < M; j++)
      wrong += u[i - 1][j] != value(turn, i - 1, j) || u[i + 1][j] != value(turn, i + 1, j);
  return wrong;
}

int main(int argc, char** argv) {
  const int times = argc > 1 ? atoi(argv[1]) : 100;
  double time = 0;
  long wrong = 0;
  for (int turn = 1; turn <= times; turn++) {
    write_rows(turn);
#pragma xmp barrier
    const double start = seconds();
#pragma xmp reflect(u)
    time += seconds() - start;
    wrong += count_wrong(turn);
  }
#pragma xmp reduction(max : time)
#pragma xmp reduction(+ : wrong)

  if (xmp_all_node_num() == 1)
    printf("reflect: %d x %d, %d times, %d nodes: %.3f us, %s\n", N, M, times, xmp_all_num_nodes(),
           1e6 * time / times, wrong == 0 ? "PASS" : "FAIL");
  return wrong != 0;
}
