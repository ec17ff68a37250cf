/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.c - the triad of the STREAM benchmark, a = b + s c, on distributed vectors: the memory
 * bandwidth of all processes together.
 *
 *   xmpcc -O3 stream.c -o stream
 *   nagaya run -n 2 ./stream [ROUNDS]
 *
 * Counted are three numbers of 8 bytes for each element, as STREAM does. */
#include <stdio.h>
#include <stdlib.h>

#include "figures.h"

#ifndef N
#define N 4000000
#endif

static double a[N], b[N], c[N];

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
#pragma xmp align a[i] with t[i]
#pragma xmp align b[i] with t[i]
#pragma xmp align c[i] with t[i]

static void triad(double scalar) {
#pragma xmp loop on t[i]
#pragma omp parallel for
  for (long i = 0; i < N; i++) a[i] = b[i] + scalar * c[i];
}

/* Returns the number of wrong elements; all right ones are exact in a double. */
static long count_wrong(double scalar) {
  long wrong = 0;
#pragma xmp loop on t[i] reduction(+ : wrong)
  for (long i = 0; i < N; i++) wrong += a[i] != (double)i + scalar * (double)(i % 1000);
  return wrong;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
#pragma xmp loop on t[i]
#pragma omp parallel for
  for (long i = 0; i < N; i++) a[i] = 0, b[i] = (double)i, c[i] = (double)(i % 1000);

  double best = 1e30;
  for (int round = 1; round <= rounds; round++) {
#pragma xmp barrier
    double time = -seconds();
    triad(round);
#pragma xmp barrier
    time += seconds();
    if (time < best) best = time;
  }
#pragma xmp reduction(max : best)

  const long wrong = count_wrong(rounds);
  if (xmp_all_node_num() == 1)
    printf("stream: %d elements, %d nodes: triad %.3f GB/s, %s\n", N, xmp_all_num_nodes(),
           1e-9 * 3 * sizeof(double) * N / best, wrong == 0 ? "PASS" : "FAIL");
  return wrong != 0;
}
