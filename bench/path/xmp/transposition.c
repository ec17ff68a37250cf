/* SPDX-License-Identifier: BSD-3-Clause */
/* transposition.c - a gmove from an array that is distributed by rows to one that is distributed by
 * columns. Arguments: [ROUNDS [TURNS]]. The mean of a round's turns counts, of the slowest node. */
#include "turns.h"

#ifndef N
#define N 2048
#endif

double by_rows[N][N], by_columns[N][N];
#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
#pragma xmp align by_rows[i][*] with t[i]
#pragma xmp align by_columns[*][j] with t[j]

static double value(long turn, int i, int j) {
  return (double)(turn + (long)i * N + j);
}

static void write_rows(long turn) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) by_rows[i][j] = value(turn, i, j);
}

static int has_columns(long turn) {
  int is_right = 1;
  for (int i = 0; i < N; i++)
#pragma xmp loop on t[j]
    for (int j = 0; j < N; j++) is_right &= by_columns[i][j] == value(turn, i, j);
  return is_right;
}

int main(int argc, char** argv) {
  const long rounds = argument(argc, argv, 1, 1), turns = argument(argc, argv, 2, 10);
  int is_right = 1;
  for (long round = 0; round < rounds; round++) {
    double time = 0;
    for (long turn = 0; turn <= turns; turn++) {
      write_rows(round + turn);
#pragma xmp barrier
      const double begin = seconds();
#pragma xmp gmove
      by_columns[:][:] = by_rows[:][:];
      if (turn > 0) time += seconds() - begin; /* the first one opens what the others use */
      is_right &= has_columns(round + turn);
    }
#pragma xmp reduction(max : time)
    if (xmp_all_node_num() == 1) printf("transposition gmove %.6g\n", time * 1e3 / (double)turns);
  }
#pragma xmp reduction(min : is_right)
  return ended(is_right);
}
