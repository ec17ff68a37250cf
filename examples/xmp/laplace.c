/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace.c - Laplace's equation on a grid of N x M points by Jacobi's method. One source, four
 * programs:
 *
 *   xmpcc -O3 laplace.c -lm -o laplace              a part of the rows for each process
 *   xmpcc -O3 -fopenmp laplace.c -lm -o laplace     these parts shared out to threads
 *   cc -O3 -fopenmp laplace.c -lm -o laplace        threads only
 *   cc -O3 laplace.c -lm -o laplace                 serial
 *
 *   nagaya run -n 4 ./laplace [STEPS]
 *
 * -DN=10000 is the paper's size. NAGAYA_XMP_HALO=message sends the rows between neighbours as
 * messages, inside a node too. The field begins as a wave that each step damps by a factor that is
 * known: the program checks its result against that. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "figures.h"

#ifndef N
#define N 1000
#endif
#ifndef M
#define M N
#endif
#define PI 3.14159265358979323846

double u[N][M], uu[N][M];

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
#pragma xmp align u[i][*] with t[i]
#pragma xmp align uu[i][*] with t[i]
#pragma xmp shadow uu[1][0]

static double wave(int i, int j) {
  return sin(PI * i / (N - 1)) * sin(PI * j / (M - 1));
}

static void initialize(void) {
#pragma xmp loop on t[i]
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      u[i][j] = uu[i][j] = i > 0 && i < N - 1 && j > 0 && j < M - 1 ? wave(i, j) : 0;
}

static void step(void) {
#pragma xmp loop on t[i]
#pragma omp parallel for
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < M - 1; j++) uu[i][j] = u[i][j];

#pragma xmp reflect(uu)

#pragma xmp loop on t[i]
#pragma omp parallel for
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < M - 1; j++)
      u[i][j] = (uu[i - 1][j] + uu[i + 1][j] + uu[i][j - 1] + uu[i][j + 1]) / 4;
}

static long count_wrong(int steps) {
  const double factor = pow((cos(PI / (N - 1)) + cos(PI / (M - 1))) / 2, steps);
  long wrong = 0;
#pragma xmp loop on t[i] reduction(+ : wrong)
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < M - 1; j++) wrong += !(fabs(u[i][j] - factor * wave(i, j)) < 1e-12);
  return wrong;
}

static uint64_t checksum(void) {
  uint64_t sum = 0;
#pragma xmp loop on t[i] reduction(+ : sum)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) sum += part_of_checksum(u[i][j], (long)i * M + j);
  return sum;
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 100;
#ifndef _XCALABLEMP
  use_huge_pages(u, sizeof u);
  use_huge_pages(uu, sizeof uu);
#endif
  initialize();

#pragma xmp barrier
  const double start = seconds();
  for (int n = 0; n < steps; n++) step();
#pragma xmp barrier
  const double time = seconds() - start;

  const long wrong = count_wrong(steps);
  const uint64_t sum = checksum();
  if (xmp_all_node_num() == 1)
    printf("laplace: %d x %d, %d steps, %d nodes: %.6f s, %.3f Gflop/s, checksum %016llx, %s\n", N,
           M, steps, xmp_all_num_nodes(), time, 4e-9 * (N - 2) * (M - 2) * steps / time,
           (unsigned long long)sum, wrong == 0 ? "PASS" : "FAIL");
  return wrong != 0;
}
