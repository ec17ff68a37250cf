/* SPDX-License-Identifier: BSD-3-Clause */
/* conjugate_gradients.c - the pattern of the NAS benchmark CG: inverse power iteration for an
 * eigenvalue of a sparse symmetric matrix; each of its steps solves A z = x by 25 steps of the
 * conjugate gradient method.
 *
 *   xmpcc -O3 conjugate_gradients.c -o conjugate_gradients -lm
 *   nagaya run -n 4 ./conjugate_gradients [STEPS]
 *
 * Each process has a block of the rows, and of the vectors. Any row may need any element of the
 * vector that it is multiplied with: that vector has a full shadow, and a reflect gives each process
 * all of it. The matrix is made by rule, not NAS's random one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "figures.h"

#ifndef N
#define N 14000
#endif
#define PAIRS 6             /* of elements beside the diagonal, in each row */
#define ENTRIES (2 * PAIRS + 1)
#define SOLVER_STEPS 25
#define SHIFT 1.0

static double value[N][ENTRIES];
static int column[N][ENTRIES];
static double x[N], z[N], p[N], q[N], r[N];

#pragma xmp nodes nodes[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto nodes
#pragma xmp align value[i][*] with t[i]
#pragma xmp align column[i][*] with t[i]
#pragma xmp align x[i] with t[i]
#pragma xmp align z[i] with t[i]
#pragma xmp align p[i] with t[i]
#pragma xmp align q[i] with t[i]
#pragma xmp align r[i] with t[i]
#pragma xmp shadow p[*]

static int distance(int pair) {
  return 1 + (int)((long)pair * pair * pair * 1009 % (N / 2 - 1));
}

/* The element between rows i and i + distance(pair), the same from both. */
static double weight(int i, int pair) {
  return 0.1 + (double)(((long)i * 7919 + pair * 104729) % 1000) / 1000;
}

static void make_matrix(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    value[i][2 * PAIRS] = SHIFT;
    column[i][2 * PAIRS] = i;
    for (int k = 0; k < PAIRS; k++) {
      const int above = (i + N - distance(k)) % N;
      column[i][2 * k] = (i + distance(k)) % N;
      column[i][2 * k + 1] = above;
      value[i][2 * k] = -weight(i, k);
      value[i][2 * k + 1] = -weight(above, k);
      value[i][2 * PAIRS] += weight(i, k) + weight(above, k);
    }
  }
}

/* q = A p */
static void multiply(void) {
#pragma xmp reflect(p)
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int k = 0; k < ENTRIES; k++) sum += value[i][k] * p[column[i][k]];
    q[i] = sum;
  }
}

/* Solves A z = x; returns the norm of x - A z. */
static double solve(void) {
  double rho = 0, norm = 0;
#pragma xmp loop on t[i] reduction(+ : rho)
  for (int i = 0; i < N; i++) {
    z[i] = 0;
    p[i] = r[i] = x[i];
    rho += r[i] * r[i];
  }
  for (int step = 0; step < SOLVER_STEPS; step++) {
    double along = 0, next = 0;
    multiply();
#pragma xmp loop on t[i] reduction(+ : along)
    for (int i = 0; i < N; i++) along += p[i] * q[i];
    const double alpha = rho / along;
#pragma xmp loop on t[i] reduction(+ : next)
    for (int i = 0; i < N; i++) {
      z[i] += alpha * p[i];
      r[i] -= alpha * q[i];
      next += r[i] * r[i];
    }
    const double beta = next / rho;
    rho = next;
#pragma xmp loop on t[i]
    for (int i = 0; i < N; i++) p[i] = r[i] + beta * p[i];
  }
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) p[i] = z[i];
  multiply();
#pragma xmp loop on t[i] reduction(+ : norm)
  for (int i = 0; i < N; i++) norm += (x[i] - q[i]) * (x[i] - q[i]);
  return sqrt(norm);
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 15;
  double eigenvalue = 0, residual = 0;
  make_matrix();
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) x[i] = 1 + 0.1 * (i % 7);
  double time = -seconds();
  for (int step = 0; step < steps; step++) {
    double before = 0, along = 0, norm = 0;
    residual = solve();
#pragma xmp loop on t[i] reduction(+ : before, along, norm)
    for (int i = 0; i < N; i++) {
      before += x[i] * x[i];
      along += x[i] * z[i];
      norm += z[i] * z[i];
    }
    eigenvalue = before / along;
    norm = 1 / sqrt(norm);
#pragma xmp loop on t[i]
    for (int i = 0; i < N; i++) x[i] = norm * z[i];
  }
  time += seconds();

  /* All rows have the sum SHIFT, so that is the smallest eigenvalue, of the vector of ones. */
  const int is_right = fabs(eigenvalue - SHIFT) < 1e-6 && residual < 1e-6;
  if (xmp_all_node_num() == 1)
    printf("conjugate_gradients: %d rows, %d steps, %d nodes: %.3f s, eigenvalue %.10f, %s\n", N,
           steps, xmp_all_num_nodes(), time, eigenvalue, is_right ? "PASS" : "FAIL");
  return !is_right;
}
