/* SPDX-License-Identifier: BSD-3-Clause */
/* loops.c - loops up and down, with steps, offsets and indexes of any place: each iteration is made
 * once, by the node that owns it. */
#include "check.h"

#define N 37

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
#pragma xmp template u(1 : N)
#pragma xmp distribute u(block) onto p

static double squares[N];
static double cubes[sizeof squares / sizeof squares[0]];
#pragma xmp align squares[i] with t[i]
#pragma xmp align cubes[i] with t[i]

/* The minus is of the 1 alone. */
#pragma xmp template moved(0 : N)
#pragma xmp distribute moved(block) onto p
static int places[N];
#pragma xmp align places[i] with moved(i - 1 + 2)

static int times[N + 1]; /* how often an iteration was made, by anybody */

static void expect_each(int first, int end, int step) {
#pragma xmp reduction(+ : times)
  for (int i = 0; i <= N; i++) {
    const int wanted = i >= first && i < end && (i - first) % step == 0;
    EXPECT_EQUAL(times[i], wanted);
    times[i] = 0;
  }
}

static void upwards(void) {
  int i;
#pragma xmp loop(i) on t[i]
  for (i = 0; i < N; i++) times[i]++;
  expect_each(0, N, 1);
#pragma xmp loop on t[i]
  for (i = 3; i <= N - 4; ++i) times[i]++;
  expect_each(3, N - 3, 1);
#pragma xmp loop on t[i]
  for (int i = 1; i < N; i += 5) times[i]++;
  expect_each(1, N, 5);
#pragma xmp loop on t[i]
  for (int i = 5; i < 5; i++) times[i]++;
  expect_each(0, 0, 1);
}

static void downwards(void) {
#pragma xmp loop on t[i]
  for (int i = N - 1; i >= 0; i--) times[i]++;
  expect_each(0, N, 1);
#pragma xmp loop on t[i]
  for (int i = N - 2; i > 1; i -= 3) times[i]++;
  expect_each(N - 2 - (N - 4) / 3 * 3, N - 1, 3);
}

static void with_offsets_of_no_sign(void) {
  const unsigned one = 1;
#pragma xmp loop on t[i - one]
  for (int i = 1; i <= N; i++) times[i]++;
  expect_each(1, N + 1, 1);
#pragma xmp loop on t[(1u < 2u ? -one : 0) + 2u + i]
  for (int i = -1; i < N - 1; i++) times[i + 1]++;
  expect_each(0, N, 1);
}

static void in_fortran_order(void) {
#pragma xmp loop on u(i)
  for (int i = 1; i <= N; i++) times[i]++;
  expect_each(1, N + 1, 1);
#pragma xmp loop(i) on u(i + 1)
  for (int i = 0; i < N; i++) times[i]++;
  expect_each(0, N, 1);
}

static void with_offsets(void) {
#pragma xmp loop on t[i - 2]
  for (int i = 2; i < N; i++) times[i]++;
  expect_each(2, N, 1);
#pragma xmp loop on t[i + 1]
  for (long i = 0; i < N - 1; i = i + 2) times[i]++;
  expect_each(0, N - 1, 2);
}

static void with_alignments_of_several_terms(void) {
#pragma xmp loop on moved(i - 1 + 2)
  for (int i = 0; i < N; i++) places[i] = i, times[i]++;
  expect_each(0, N, 1);
#pragma xmp loop on moved(i + 1)
  for (int i = 0; i < N; i++) EXPECT_EQUAL(places[i], i);
}

/* A loop by nodes makes the iteration of its own number. */
static void on_nodes(void) {
  int made = -1;
#pragma xmp loop on p[i]
  for (int i = 0; i < xmp_all_num_nodes(); i++) {
    EXPECT_EQUAL(made, -1);
    made = i;
  }
  EXPECT_EQUAL(made, own_number());
}

static void with_break_of_an_inner_loop(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int k = 0;; k++) {
      if (k < 2) continue;
      times[i]++;
      break;
    }
  expect_each(0, N, 1);
}

/* The first value may change a variable that the bound has; a step may be unsigned. */
static void with_bounds_of_expressions(void) {
  int low = 0, i;
#pragma xmp loop on t[i]
  for (i = low = 6; i < low + 4; i++) times[i]++;
  expect_each(6, 10, 1);
  unsigned step = 2;
#pragma xmp loop on t[i]
  for (int i = N - 1; i >= 0; i -= step) times[i]++;
  expect_each(0, N, 2);
#pragma xmp loop on t[i]
  for (unsigned long i = 0; i < sizeof squares / sizeof squares[0]; i += sizeof squares[0] / 4)
    times[i]++;
  expect_each(0, N, 2);
#pragma GCC ivdep
#pragma xmp loop on t[i]
  for (__typeof__(step) i = 0; i < N; i++) times[i]++;
  expect_each(0, N, 1);
}

/* Compilers hang them on the loop. */
static void behind_pragmas(void) {
#pragma xmp loop on t[i]
#pragma GCC unroll 4
  for (int i = 0; i < N; i++) times[i]++;
  expect_each(0, N, 1);
#pragma GCC unroll 4
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) times[i]++;
  expect_each(0, N, 1);
}

/* It is the one from where the loop begins. */
static void with_a_step_that_changes(void) {
  int i, step = 3;
#pragma xmp loop on t[i]
  for (i = 1; i < N; i += step) times[i]++, step = 1;
  expect_each(1, N, 3);
  step = 2;
#pragma xmp loop on t[k]
  for (unsigned char k = N - 1; k > 1; k = k - step) times[k]++, step++;
  expect_each(2, N, 2);
}

int main(void) {
  upwards();
  downwards();
  with_offsets_of_no_sign();
  in_fortran_order();
  with_offsets();
  with_alignments_of_several_terms();
  on_nodes();
  with_break_of_an_inner_loop();
  with_bounds_of_expressions();
  behind_pragmas();
  with_a_step_that_changes();
  return say_ok();
}
