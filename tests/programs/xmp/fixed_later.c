/* SPDX-License-Identifier: BSD-3-Clause */
/* fixed_later.c - templates whose extents are known at run time: template_fix makes their arrays.
 */
#include <stdlib.h>

#include "check.h"

#pragma xmp nodes p[*]
#pragma xmp template t[:]
#pragma xmp distribute t[block] onto p
#pragma xmp template u(:, :)
#pragma xmp distribute u(*, block) onto p

static int line[100], table[60][50];
#pragma xmp align line[i] with t[i]
#pragma xmp shadow line[1]
#pragma xmp align table[i][j] with u(j, i)

#pragma xmp template by_function[:]
#pragma xmp distribute by_function[block] onto p
static int numbers[30];
#pragma xmp align numbers[i] with by_function[i]

static void fix(void) {
#pragma xmp template_fix by_function[30]
}

/* The array does not exist yet when this begins. */
static void fixed_by_a_function(void) {
  fix();
#pragma xmp loop on by_function[i]
  for (int i = 0; i < 30; i++) numbers[i] = i;
  int sum = 0;
#pragma xmp loop on by_function[i] reduction(+ : sum)
  for (int i = 0; i < 30; i++) sum += numbers[i];
  EXPECT_EQUAL(sum, 435);
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 100;
#pragma xmp template_fix t[n]
#pragma xmp template_fix u(0 : 49, 0 : 59)
#pragma xmp loop on t[i]
  for (int i = 0; i < n; i++) line[i] = i;
#pragma xmp reflect(line)
#pragma xmp loop on t[i]
  for (int i = 1; i < n - 1; i++) EXPECT_EQUAL(line[i - 1] + line[i + 1], 2 * i);
  int sum = 0;
#pragma xmp loop(i, j) on u(j, i) reduction(+ : sum)
  for (int i = 0; i < 60; i++)
    for (int j = 0; j < 50; j++) table[i][j] = 1, sum += table[i][j];
  EXPECT_EQUAL(sum, 60 * 50);
  fixed_by_a_function();
  return say_ok();
}
