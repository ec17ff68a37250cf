/* SPDX-License-Identifier: BSD-3-Clause */
/* lu.c - solves A x = b by LU factorisation with partial pivoting, and checks the residual as the
 * benchmark HPL does.
 *
 *   xmpcc -O3 lu.c -o lu -lm
 *   nagaya run -n 4 ./lu
 *
 * The columns are distributed cyclically: so all processes have work until the last step, although the
 * columns that are not finished become fewer. The owner of column k chooses the pivot, and broadcasts
 * the multipliers; each process then updates its own columns. A column lies in consecutive memory. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "figures.h"

#ifndef N
#define N 1000
#endif

static double column[N][N]; /* column[j][i] is element (i, j); then L below U */
static double multiplier[N], x[N];
static int pivot[N];

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[cyclic] onto p
#pragma xmp align column[j][*] with t[j]

/* A number from -0.5 to 0.5, by the finaliser of the generator splitmix64. */
static double element(int i, int j) {
  uint64_t bits = ((uint64_t)i * (N + 1) + j + 1) * 0x9e3779b97f4a7c15;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return (double)(bits >> 11) * 0x1p-53 - 0.5;
}

static double right_side(int i) {
  return element(i, N);
}

static void swap(double* vector, int i, int k) {
  const double kept = vector[i];
  vector[i] = vector[k];
  vector[k] = kept;
}

/* Its caller owns column k. */
static void choose_pivot(int k) {
  pivot[k] = k;
  for (int i = k + 1; i < N; i++)
    if (fabs(column[k][i]) > fabs(column[k][pivot[k]])) pivot[k] = i;
  swap(column[k], k, pivot[k]);
  for (int i = k + 1; i < N; i++) multiplier[i] = column[k][i] /= column[k][k];
}

static void factorise(void) {
  for (int k = 0; k < N; k++) {
#pragma xmp task on t[k] nocomm
    choose_pivot(k);
#pragma xmp bcast(pivot[k], multiplier[k:N - k]) from t[k]
#pragma xmp loop on t[j]
    for (int j = k + 1; j < N; j++) {
      swap(column[j], k, pivot[k]);
      const double above = column[j][k];
      for (int i = k + 1; i < N; i++) column[j][i] -= multiplier[i] * above;
    }
#pragma xmp loop on t[j]
    for (int j = 0; j < k; j++) swap(column[j], k, pivot[k]);
  }
}

/* All processes have x; the owner of a column subtracts its part. */
static void solve(void) {
  for (int i = 0; i < N; i++) x[i] = right_side(i);
  for (int k = 0; k < N; k++) swap(x, k, pivot[k]);
  for (int k = 0; k < N; k++) {
#pragma xmp task on t[k] nocomm
    for (int i = k + 1; i < N; i++) x[i] -= column[k][i] * x[k];
#pragma xmp bcast(x) from t[k]
  }
  for (int k = N - 1; k >= 0; k--) {
#pragma xmp task on t[k] nocomm
    {
      x[k] /= column[k][k];
      for (int i = 0; i < k; i++) x[i] -= column[k][i] * x[k];
    }
#pragma xmp bcast(x) from t[k]
  }
}

/* Returns |A x - b| / (epsilon (|A| |x| + |b|) N), with norms of the largest sum of a row. */
static double scaled_residual(void) {
  static double difference[N], row[N];
  double largest = 0, norm = 0, norm_of_x = 0, norm_of_b = 0;
  for (int i = 0; i < N; i++) difference[i] = row[i] = 0;
#pragma xmp loop on t[j] reduction(+ : difference, row)
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) {
      difference[i] += element(i, j) * x[j];
      row[i] += fabs(element(i, j));
    }
  for (int i = 0; i < N; i++) {
    largest = fmax(largest, fabs(difference[i] - right_side(i)));
    norm = fmax(norm, row[i]);
    norm_of_x = fmax(norm_of_x, fabs(x[i]));
    norm_of_b = fmax(norm_of_b, fabs(right_side(i)));
  }
  return largest / (DBL_EPSILON * (norm * norm_of_x + norm_of_b) * N);
}

int main(void) {
  uint64_t checksum = 0;
#pragma xmp loop on t[j]
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) column[j][i] = element(i, j);
#pragma xmp barrier
  double time = -seconds();
  factorise();
  solve();
  time += seconds();
  for (int i = 0; i < N; i++) checksum += part_of_checksum(x[i], i);
  const double residual = scaled_residual();
  const int is_right = residual < 16; /* HPL's limit */
  if (xmp_all_node_num() == 1)
    printf("lu: %d x %d, %d nodes: %.2f s, %.2f Gflop/s, residual %.3f, checksum %016llx, %s\n", N, N,
           xmp_all_num_nodes(), time, 2e-9 / 3 * N * N * N / time, residual,
           (unsigned long long)checksum, is_right ? "PASS" : "FAIL");
  return !is_right;
}
