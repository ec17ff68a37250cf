/* SPDX-License-Identifier: BSD-3-Clause */
/* himeno.c - the loop of the Himeno benchmark: Poisson's equation by Jacobi's method in three
 * dimensions, 34 floating-point operations a point, single precision. Its first two dimensions are
 * distributed.
 *
 *   xmpcc -O3 -DPJ=2 himeno.c -o himeno
 *   nagaya run -n 4 ./himeno [STEPS]
 *
 * PJ is the number of nodes along the second dimension. -DMI=256 -DMJ=256 -DMK=512 is the
 * benchmark's size L. Unlike the benchmark's, the pressure begins as a wave that each step damps by
 * a factor that is known: the program checks its result against that. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "figures.h"

#ifndef MI
#define MI 64
#define MJ 64
#define MK 128
#endif
#ifndef PJ
#define PJ 1
#endif
#define PI 3.14159265358979323846
#define OMEGA 0.8f
#define FLOP_PER_POINT 34

static float p[MI][MJ][MK], bnd[MI][MJ][MK], wrk1[MI][MJ][MK], wrk2[MI][MJ][MK];
static float a[4][MI][MJ][MK], b[3][MI][MJ][MK], c[3][MI][MJ][MK];

#pragma xmp nodes n[*][PJ]
#pragma xmp template t[MI][MJ]
#pragma xmp distribute t[block][block] onto n
#pragma xmp align p[i][j][*] with t[i][j]
#pragma xmp align bnd[i][j][*] with t[i][j]
#pragma xmp align wrk1[i][j][*] with t[i][j]
#pragma xmp align wrk2[i][j][*] with t[i][j]
#pragma xmp align a[*][i][j][*] with t[i][j]
#pragma xmp align b[*][i][j][*] with t[i][j]
#pragma xmp align c[*][i][j][*] with t[i][j]
#pragma xmp shadow p[1][1][0]

static double wave(int i, int j, int k) {
  return sin(PI * i / (MI - 1)) * sin(PI * j / (MJ - 1)) * sin(PI * k / (MK - 1));
}

static int is_inside(int i, int j, int k) {
  return i > 0 && i < MI - 1 && j > 0 && j < MJ - 1 && k > 0 && k < MK - 1;
}

static void initialize(void) {
#pragma xmp loop(i, j) on t[i][j]
  for (int i = 0; i < MI; i++)
    for (int j = 0; j < MJ; j++)
      for (int k = 0; k < MK; k++) {
        p[i][j][k] = is_inside(i, j, k) ? (float)wave(i, j, k) : 0;
        bnd[i][j][k] = 1;
        wrk1[i][j][k] = wrk2[i][j][k] = 0;
        for (int n = 0; n < 3; n++) a[n][i][j][k] = c[n][i][j][k] = 1, b[n][i][j][k] = 0;
        a[3][i][j][k] = 1.0f / 6;
      }
}

/* Returns the sum of the squares of the residuals. */
static float jacobi(int steps) {
  float gosa = 0;
  for (int n = 0; n < steps; n++) {
    gosa = 0;
#pragma xmp loop(i, j) on t[i][j] reduction(+ : gosa)
    for (int i = 1; i < MI - 1; i++)
      for (int j = 1; j < MJ - 1; j++)
        for (int k = 1; k < MK - 1; k++) {
          const float s0 = a[0][i][j][k] * p[i + 1][j][k] + a[1][i][j][k] * p[i][j + 1][k] +
                           a[2][i][j][k] * p[i][j][k + 1] +
                           b[0][i][j][k] * (p[i + 1][j + 1][k] - p[i + 1][j - 1][k] -
                                            p[i - 1][j + 1][k] + p[i - 1][j - 1][k]) +
                           b[1][i][j][k] * (p[i][j + 1][k + 1] - p[i][j - 1][k + 1] -
                                            p[i][j + 1][k - 1] + p[i][j - 1][k - 1]) +
                           b[2][i][j][k] * (p[i + 1][j][k + 1] - p[i - 1][j][k + 1] -
                                            p[i + 1][j][k - 1] + p[i - 1][j][k - 1]) +
                           c[0][i][j][k] * p[i - 1][j][k] + c[1][i][j][k] * p[i][j - 1][k] +
                           c[2][i][j][k] * p[i][j][k - 1] + wrk1[i][j][k];
          const float ss = (s0 * a[3][i][j][k] - p[i][j][k]) * bnd[i][j][k];
          gosa += ss * ss;
          wrk2[i][j][k] = p[i][j][k] + OMEGA * ss;
        }
#pragma xmp loop(i, j) on t[i][j]
    for (int i = 1; i < MI - 1; i++)
      for (int j = 1; j < MJ - 1; j++)
        for (int k = 1; k < MK - 1; k++) p[i][j][k] = wrk2[i][j][k];
#pragma xmp reflect(p)
  }
  return gosa;
}

static long count_wrong(int steps) {
  const double cosines = cos(PI / (MI - 1)) + cos(PI / (MJ - 1)) + cos(PI / (MK - 1));
  const double factor = pow(1 + OMEGA * (cosines / 3 - 1), steps);
  long wrong = 0;
#pragma xmp loop(i, j) on t[i][j] reduction(+ : wrong)
  for (int i = 1; i < MI - 1; i++)
    for (int j = 1; j < MJ - 1; j++)
      for (int k = 1; k < MK - 1; k++) wrong += !(fabs(p[i][j][k] - factor * wave(i, j, k)) < 1e-4);
  return wrong;
}

static uint64_t checksum(void) {
  uint64_t sum = 0;
#pragma xmp loop(i, j) on t[i][j] reduction(+ : sum)
  for (int i = 0; i < MI; i++)
    for (int j = 0; j < MJ; j++)
      for (int k = 0; k < MK; k++) sum += part_of_checksum(p[i][j][k], ((long)i * MJ + j) * MK + k);
  return sum;
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 20;
#ifndef _XCALABLEMP
  use_huge_pages(p, sizeof p);
  use_huge_pages(bnd, sizeof bnd);
  use_huge_pages(wrk1, sizeof wrk1);
  use_huge_pages(wrk2, sizeof wrk2);
  use_huge_pages(a, sizeof a);
  use_huge_pages(b, sizeof b);
  use_huge_pages(c, sizeof c);
#endif
  initialize();
#pragma xmp reflect(p)

#pragma xmp barrier
  const double start = seconds();
  const float gosa = jacobi(steps);
#pragma xmp barrier
  const double time = seconds() - start;

  const double points = (double)(MI - 2) * (MJ - 2) * (MK - 2);
  const uint64_t sum = checksum();
  const long wrong = count_wrong(steps);
  if (xmp_all_node_num() == 1)
    printf(
        "himeno: %d x %d x %d, %d steps, %d nodes: %.6f s, %.3f Gflop/s, gosa %.6e, "
        "checksum %016llx, %s\n",
        MI, MJ, MK, steps, xmp_all_num_nodes(), time, 1e-9 * FLOP_PER_POINT * points * steps / time,
        gosa, (unsigned long long)sum, wrong == 0 ? "PASS" : "FAIL");
  return wrong != 0;
}
