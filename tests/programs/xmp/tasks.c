/* SPDX-License-Identifier: BSD-3-Clause */
/* tasks.c - task and tasks: subsets of nodes and of templates, nested ones, nocomm, return out of a
 * task; communication inside is of its members only. */
#include "check.h"

#define N 32

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p

static int nodes, own;

static void subsets(void) {
  const int half = (nodes + 1) / 2;
  int sum = 1, barriers = 0;
#pragma xmp task on p[0:half]
  {
    for (int n = 0; n < 5; n++) {
#pragma xmp barrier
      barriers++;
    }
#pragma xmp reduction(+ : sum)
    EXPECT_EQUAL(xmp_num_nodes(), half);
  }
  EXPECT_EQUAL(sum, own < half ? half : 1);
  EXPECT_EQUAL(barriers, own < half ? 5 : 0);
}

/* The owner of an element; in Fortran's order the node of the number is one more. */
static void owners(void) {
  int owner = -1;
#pragma xmp task on t[N - 1] nocomm
  owner = own;
#pragma xmp reduction(max : owner)
  EXPECT_EQUAL(owner, (N - 1) / ((N + nodes - 1) / nodes));
  int first = 0;
#pragma xmp task on p[0] nocomm
  { first = 1; }
  EXPECT_EQUAL(first, own == 0);
}

static int calls;
static int next(void) {
  return calls++ % nodes;
}

static void expressions_are_computed_once(void) {
  int members = 0;
#pragma xmp task on p[next()] nocomm
  members++;
  EXPECT_EQUAL(members, own == 0);
#pragma xmp task on p[next():1] nocomm
  members++;
  EXPECT_EQUAL(members, (own == 0) + (own == 1 % nodes));
  EXPECT_EQUAL(calls, 2);
}

static void nested(void) {
  if (nodes < 2) return;
  int sum = 1, inner = 1, again = 1;
#pragma xmp task on p[1 : nodes - 1]
  {
#pragma xmp task on p[1]
      {EXPECT_EQUAL(xmp_num_nodes(), 1);
#pragma xmp reduction(+ : inner)
}
#pragma xmp reduction(+ : sum)
}
#pragma xmp reduction(+ : again)
EXPECT_EQUAL(sum, own > 0 ? nodes - 1 : 1);
EXPECT_EQUAL(inner, 1);
EXPECT_EQUAL(again, nodes);
}

/* Two tasks at once: the first one waits for nobody of the second. */
static void two_at_once(void) {
  if (nodes < 2) return;
  const int upper = nodes / 2, lower = nodes - upper;
  int sum = own;
#pragma xmp tasks
  {
#pragma xmp task on p[0:lower]
    {
#pragma xmp reduction(+ : sum)
    }
#pragma xmp task on p[lower:upper]
    {
#pragma xmp reduction(max : sum)
    }
  }
  EXPECT_EQUAL(sum, own < lower ? lower * (lower - 1) / 2 : nodes - 1);
}

static int returns_out_of_a_task(void) {
#pragma xmp task on p[0]
  {
    if (own == 0) return 1;
  }
  return 0;
}

/* The task is left, too: the statements behind it are of all nodes again. */
static void leaves_by_return(void) {
  EXPECT_EQUAL(returns_out_of_a_task(), own == 0);
  EXPECT_EQUAL(xmp_num_nodes(), nodes);
  int sum = 1;
#pragma xmp reduction(+ : sum)
  EXPECT_EQUAL(sum, nodes);
}

/* A directive of its own for each: both end behind the loop. */
static void loop_right_behind_a_task(void) {
  const int half = (nodes + 1) / 2;
  int sum = 0;
#pragma xmp nodes q[half] = p[0:half]
#pragma xmp template s[N]
#pragma xmp distribute s[block] onto q
#pragma xmp task on q
#pragma xmp loop on s[i] reduction(+ : sum)
  for (int i = 0; i < N; i++) sum += i;
  EXPECT_EQUAL(sum, own < half ? N * (N - 1) / 2 : 0);
}

/* The template is on all nodes, but the loop's indexes are on the one of the task. */
static void loop_over_the_block_of_a_task(void) {
  const int width = (N + nodes - 1) / nodes;
  int sum = 0;
#pragma xmp task on p[0]
  {
#pragma xmp loop on t[i]
    for (int i = 0; i < width; i++) sum++;
  }
  EXPECT_EQUAL(sum, own == 0 ? width : 0);
}

int main(void) {
  nodes = xmp_all_num_nodes(), own = own_number();
  subsets();
  owners();
  expressions_are_computed_once();
  nested();
  two_at_once();
  leaves_by_return();
  loop_right_behind_a_task();
  loop_over_the_block_of_a_task();
#pragma xmp barrier
#pragma xmp barrier on p
  return say_ok();
}
