/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.h - benchmarks that measure XcalableMP and code written by hand by turns, in one process.
 * Each round prints a line "FIGURE WAY VALUE" for each way; the last line says PASS or FAIL. */
#ifndef TURNS_H
#define TURNS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <xmp.h>

static inline double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Makes the compiler believe that all memory is read and written here, so that it neither leaves
 * out stores nor joins two repetitions of a loop. */
static inline void use_memory(void) {
  __asm__ volatile("" ::: "memory");
}

/* The arguments of all these programs: [ROUNDS [TURNS]]. */
static inline long argument(int argc, char** argv, int n, long otherwise) {
  return n < argc ? atol(argv[n]) : otherwise;
}

static inline int ended(int is_right) {
  if (xmp_all_node_num() == 1) printf("%s\n", is_right ? "PASS" : "FAIL");
  return !is_right;
}

#endif
