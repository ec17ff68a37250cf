/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel loops, tasks and thread-private data, for every OpenMP library. */
#include <omp.h>
#include <stdio.h>

static int own = 1;
#pragma omp threadprivate(own)

static long fibonacci(int n) {
  long first, second;
  if (n < 2) return n;
#pragma omp task shared(first)
  first = fibonacci(n - 1);
  second = fibonacci(n - 2);
#pragma omp taskwait
  return first + second;
}

int main(void) {
  long sum = 0, result = 0;
  omp_set_num_threads(4);
#pragma omp parallel for reduction(+ : sum) copyin(own) schedule(dynamic, 100)
  for (int n = 0; n < 100000; ++n) sum += n * own;
#pragma omp parallel
#pragma omp single
  result = fibonacci(12);
  printf("sum %ld fibonacci %ld threads %d\n", sum, result, omp_get_max_threads());
  return 0;
}
