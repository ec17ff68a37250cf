/* SPDX-License-Identifier: BSD-3-Clause */
/* locals.c - nodes, templates and distributed arrays that live in a function: extents known at run
 * time, recursion, blocks that are left early; their memory is given back. */
#include <sys/resource.h>

#include "check.h"

#pragma xmp nodes p[*]

static long sum_of_squares(int n) {
#pragma xmp template t[n]
#pragma xmp distribute t[block] onto p
  long squares[n];
#pragma xmp align squares[i] with t[i]
#pragma xmp shadow squares[1]
#pragma xmp loop on t[i]
  for (int i = 0; i < n; i++) squares[i] = (long)i * i;
#pragma xmp reflect(squares)
  long sum = 0;
#pragma xmp loop on t[i] reduction(+ : sum)
  for (int i = 1; i < n; i++) sum += squares[i - 1];
  return sum;
}

static int recursive(int depth) {
  if (depth == 0) return 0;
#pragma xmp template t[8 * depth]
#pragma xmp distribute t[block] onto p
  int own[8 * depth];
#pragma xmp align own[i] with t[i]
#pragma xmp loop on t[i]
  for (int i = 0; i < 8 * depth; i++) own[i] = depth;
  const int below = recursive(depth - 1);
  int sum = 0;
#pragma xmp loop on t[i] reduction(+ : sum)
  for (int i = 0; i < 8 * depth; i++) sum += own[i];
  return below + sum;
}

static long most_resident_kib(void) {
  struct rusage usage;
  EXPECT_EQUAL(getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_maxrss;
}

/* 400 arrays of 1 MB, one after the other: each is given back, whichever way its block is left. */
static void many(void) {
  const long before = most_resident_kib();
  for (int n = 0; n < 400; n++) {
#pragma xmp template t[125000]
#pragma xmp distribute t[block] onto p
    double big[125000];
#pragma xmp align big[i] with t[i]
#pragma xmp loop on t[i]
    for (int i = 0; i < 125000; i += 100) big[i] = n;
    if (n % 2 == 0) continue;
    if (n == 399) break;
  }
  EXPECT(most_resident_kib() - before < 100 * 1024);
}

int main(void) {
  for (long n = 16; n < 200; n += 37)
    EXPECT_EQUAL(sum_of_squares((int)n), (n - 2) * (n - 1) * (2 * n - 3) / 6);
  EXPECT_EQUAL(recursive(5), 8 * (1 + 4 + 9 + 16 + 25));
  many();
  return say_ok();
}
