/* SPDX-License-Identifier: BSD-3-Clause */
/* expansions.c - expand, margin and peel_and_wait: the iterations that each node executes, beside
 * those that the specification's definition makes of the plain loop's. Macros give the loops. */
#include <stdlib.h>

#include "check.h"
#ifndef LOW
#define LOW 1
#define HIGH 1
#define LEFT -1
#define RIGHT 2
#define UNBOUND
#define FIRST 2
#define END 17
#define STEP 1
#endif
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)
#define N 20
#define M 12
#define WIDE (xmp_all_num_nodes() % 2 == 0 ? 2 : 1)
#define ROOM 30 /* beside the indexes of the template */

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
#pragma xmp nodes grid(WIDE, xmp_all_num_nodes() / WIDE)
#pragma xmp template s(0 : M - 1, 0 : N - 1)
#pragma xmp distribute s(block, block) onto grid
double shared[N];
#pragma xmp align shared[i] with t[i]
#pragma xmp shadow shared[1]

/* How often the node has executed each iteration. */
typedef struct {
  int times[N + 2 * ROOM][M + 2 * ROOM];
} Visits;
static Visits plain, expanded, margin, peeled;

static void visit(Visits* visits, int i, int j) {
  visits->times[i + ROOM][j + ROOM]++;
}

/* Whether the index is among those of the plain loop from `lowest` to `highest` (of `first`, ...,
 * below `end`, each `step`th) when these are expanded. */
static int is_expanded(int i, int lowest, int highest, int low, int high, int first, int end,
                       int step) {
  const int unbound = sizeof(TEXT(UNBOUND)) > 1;
  if (highest < lowest || (i - first) % step != 0) return 0;
  if (!unbound && (i < first || i >= end)) return 0;
  return i >= lowest - low && i <= highest + high;
}

static void compare(int columns) {
  int top = 99, bottom = -1, left = 99, right = -1;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      if (plain.times[i + ROOM][j + ROOM] != 0) {
        if (i < top) top = i;
        if (i > bottom) bottom = i;
        if (j < left) left = j;
        if (j > right) right = j;
      }
  for (int i = -ROOM; i < N + ROOM; i++)
    for (int j = -ROOM; j < M + ROOM; j++) {
      const int is_plain = plain.times[i + ROOM][j + ROOM];
      const int is_in =
          is_expanded(i, top, bottom, LOW, HIGH, FIRST, END, STEP) &&
          (columns ? is_expanded(j, left, right, LEFT, RIGHT, 0, M, 1) : j == 0);
      EXPECT_EQUAL(expanded.times[i + ROOM][j + ROOM], is_in);
      EXPECT_EQUAL(margin.times[i + ROOM][j + ROOM], is_in != is_plain);
      EXPECT_EQUAL(peeled.times[i + ROOM][j + ROOM], is_in + (is_in != is_plain));
    }
  memset(&plain, 0, sizeof plain);
  memset(&expanded, 0, sizeof expanded);
  memset(&margin, 0, sizeof margin);
  memset(&peeled, 0, sizeof peeled);
}

static void test_one_loop(void) {
  int sum = 0, wanted = 0;
#pragma xmp loop on t[i]
  for (int i = FIRST; i < END; i += STEP) visit(&plain, i, 0);
#pragma xmp loop on t[i] expand(UNBOUND LOW : HIGH) reduction(+ : sum)
  for (int i = FIRST; i < END; i += STEP) visit(&expanded, i, 0), sum++;
#pragma xmp loop (i) on t[i] margin(UNBOUND LOW : HIGH)
  for (int i = FIRST; i < END; i += STEP) visit(&margin, i, 0);
#pragma xmp reflect(shared) async(7)
#pragma xmp loop on t[i] peel_and_wait(7, UNBOUND LOW : HIGH)
  for (int i = FIRST; i < END; i += STEP) visit(&peeled, i, 0);
  for (int i = -ROOM; i < N + ROOM; i++) wanted += expanded.times[i + ROOM][ROOM];
#pragma xmp reduction(+ : wanted)
  EXPECT_EQUAL(sum, wanted);
  compare(0);
}

static void test_downwards(void) {
  const int last = FIRST + (END - 1 - FIRST) / STEP * STEP;
#pragma xmp loop on t[i]
  for (int i = last; i >= FIRST; i -= STEP) visit(&plain, i, 0);
#pragma xmp loop on t[i] expand(UNBOUND LOW : HIGH)
  for (int i = last; i >= FIRST; i -= STEP) visit(&expanded, i, 0);
#pragma xmp loop on t[i] margin(UNBOUND LOW : HIGH)
  for (int i = last; i >= FIRST; i -= STEP) visit(&margin, i, 0);
#pragma xmp reflect(shared) async(7)
#pragma xmp loop on t[i] peel_and_wait(7, UNBOUND LOW : HIGH)
  for (int i = last; i >= FIRST; i -= STEP) visit(&peeled, i, 0);
  compare(0);
}

/* The widths stand in the order of the on clause, which is Fortran's here. */
static void test_nest(void) {
#pragma xmp loop (i, j) on s(j, i)
  for (int i = FIRST; i < END; i += STEP)
    for (int j = 0; j < M; j++) visit(&plain, i, j);
#pragma xmp loop (i, j) on s(j, i) expand(UNBOUND LEFT : RIGHT, UNBOUND LOW : HIGH)
  for (int i = FIRST; i < END; i += STEP)
    for (int j = 0; j < M; j++) visit(&expanded, i, j);
#pragma xmp loop (i, j) on s(j, i) margin(UNBOUND LEFT : RIGHT, UNBOUND LOW : HIGH)
  for (int i = FIRST; i < END; i += STEP)
    for (int j = 0; j < M; j++) visit(&margin, i, j);
#pragma xmp reflect(shared) async(7)
#pragma xmp loop (i, j) on s(j, i) peel_and_wait(7, UNBOUND LEFT : RIGHT, UNBOUND LOW : HIGH)
  for (int i = FIRST; i < END; i += STEP)
    for (int j = 0; j < M; j++) visit(&peeled, i, j);
  compare(1);
}

int main(void) {
  test_one_loop();
  test_downwards();
  test_nest();
  return say_ok();
}
