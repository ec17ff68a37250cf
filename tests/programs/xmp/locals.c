/* SPDX-License-Identifier: BSD-3-Clause */
/* locals.c - nodes, templates and distributed arrays that live in a function: extents known at run
 * time, recursion, blocks that are left early; their memory is given back. Static arrays stay. */
#include <sys/resource.h>

#include "check.h"

#pragma xmp nodes p[*]
#pragma xmp template lasting[24]
#pragma xmp distribute lasting[block] onto p

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

/* A static array keeps its elements, and is another one than its namesake. */
static int calls(void) {
  static int counts[24];
#pragma xmp align counts[i] with lasting[i]
#pragma xmp shadow counts[1]
  int sum = 0;
#pragma xmp loop on lasting[i]
  for (int i = 0; i < 24; i++) counts[i]++;
#pragma xmp reflect(counts)
#pragma xmp loop on lasting[i] reduction(+ : sum)
  for (int i = 1; i < 23; i++) sum += counts[i + 1];
  return sum;
}

static int calls_of_another(void) {
  static int counts[24];
#pragma xmp align counts[i] with lasting[i]
  int sum = 0;
#pragma xmp loop on lasting[i] reduction(+ : sum)
  for (int i = 0; i < 24; i++) sum += ++counts[i];
  return sum;
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
  for (int n = 1; n <= 3; n++) EXPECT_EQUAL(calls(), 22 * n);
  EXPECT_EQUAL(calls_of_another(), 24);
  many();
  return say_ok();
}
