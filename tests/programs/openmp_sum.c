/* SPDX-License-Identifier: BSD-3-Clause */
/* openmp_sum.c - a reduction, a thread-private variable and tasks on four threads. */
#include <omp.h>
#include <stdio.h>

static int own;
#pragma omp threadprivate(own)

static long fibonacci(int n) {
  long a, b;
  if (n < 2) return n;
#pragma omp task shared(a)
  a = fibonacci(n - 1);
#pragma omp task shared(b)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

int main(void) {
  long sum = 0, result = 0;
  int threads = 0, owns = 0;
  omp_set_dynamic(0);
  omp_set_num_threads(4);
#pragma omp parallel reduction(+ : sum, owns)
  {
    own = omp_get_thread_num();
#pragma omp for
    for (int n = 1; n <= 1000000; ++n) sum += n;
    owns += own;
#pragma omp single
    {
      threads = omp_get_num_threads();
      result = fibonacci(15);
    }
  }
  printf("threads %d sum %ld owns %d fibonacci %ld\n", threads, sum, owns, result);
  return 0;
}
