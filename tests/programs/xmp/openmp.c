/* SPDX-License-Identifier: BSD-3-Clause */
/* openmp.c - OpenMP's directives before, after and inside of loops that are shared out. */
#include <omp.h>

#include "check.h"

#define N 48
#define M 10

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
static int field[N][M], around[N][M];
#pragma xmp align field[i][*] with t[i]
#pragma xmp align around[i][*] with t[i]
#pragma xmp shadow field[1][0]

#pragma xmp nodes grid[*][1]
#pragma xmp template square[N][M]
#pragma xmp distribute square[block][block] onto grid
static int area[N][M];
#pragma xmp align area[i][j] with square[i][j]

/* Clauses name the arrays as the program does. */
static void with_clauses(void) {
  int factor = 3, sum = 0;
#pragma xmp loop on t[i]
#pragma omp parallel for default(none) shared(field, around, factor) schedule(static)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) around[i][j] = factor * i + j, field[i][j] = j;
#pragma xmp loop on t[i] reduction(+ : sum)
#pragma omp parallel for shared(around) firstprivate(factor) reduction(+ : sum) collapse(2)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) sum += around[i][j] == factor * i + j && field[i][j] == j;
  EXPECT_EQUAL(sum, N * M);
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
#pragma omp simd
    for (int j = 0; j < M; j++) field[i][j] += i;
    EXPECT_EQUAL(field[i][M - 1], i + M - 1);
  }
}

/* The bounds of an inner loop that is distributed, too, stand before the outer one or inside. */
static void on_inner_loops(void) {
  int most = -1, row = -1, sum = 0, wanted = 0;
#pragma xmp loop(i, j) on square[i][j] reduction(firstmax : most / row /)
  for (int i = 0; i < N; i++)
#pragma omp parallel for default(none) shared(area, i, most, row)
    for (int j = 0; j < M; j++) {
      area[i][j] = 100 * i + j;
#pragma omp critical(area)
      if (i % 7 > most) most = i % 7, row = i;
    }
  EXPECT(most == 6 && row == 6);
#pragma xmp loop(i, j) on square[i][j] reduction(+ : sum)
  for (int i = 0; i < N; i++)
#pragma omp parallel for default(none) shared(area, i) reduction(+ : sum)
    for (int j = i % M; j < M; j++) sum += area[i][j];
#pragma xmp loop(i, j) on square[i][j] reduction(+ : sum)
#pragma omp parallel for default(none) shared(area) reduction(+ : sum)
  for (int i = 0; i < N; i++)
    for (int j = i % M; j < M; j++) sum += area[i][j];
  for (int i = 0; i < N; i++)
    for (int j = i % M; j < M; j++) wanted += 100 * i + j;
  EXPECT_EQUAL(sum, 2 * wanted);
}

int main(void) {
  omp_set_num_threads(3);
  with_clauses();
  on_inner_loops();
#pragma xmp loop on t[i]
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) field[i][j] = 10 * i + j;

#pragma xmp reflect(field)

#pragma omp parallel for
#pragma xmp loop on t[i]
  for (int i = 1; i < N - 1; i++)
    for (int j = 0; j < M; j++) around[i][j] = field[i - 1][j] + field[i + 1][j];

  int sum = 0, threads = 0;
#pragma xmp loop on t[i] reduction(+ : sum)
  for (int i = 1; i < N - 1; i++) {
#pragma omp parallel for reduction(+ : sum)
    for (int j = 0; j < M; j++) sum += around[i][j] == 2 * (10 * i + j);
  }
  EXPECT_EQUAL(sum, (N - 2) * M);

  long total = 0;
#pragma xmp loop on t[i] reduction(+ : total)
#pragma omp parallel for reduction(+ : total) reduction(max : threads)
  for (int i = 0; i < N; i++) {
    threads = omp_get_num_threads();
    for (int j = 0; j < M; j++) total += field[i][j];
  }
  EXPECT_EQUAL(total, M * 10 * N * (N - 1) / 2 + N * M * (M - 1) / 2);
  EXPECT_EQUAL(threads, 3);

  int of_region = 0;
#pragma omp parallel
  {
#pragma omp for reduction(+ : of_region)
    for (int n = 0; n < 100; n++) of_region++;
  }
  EXPECT_EQUAL(of_region, 100);
  return say_ok();
}
