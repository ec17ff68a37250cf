/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c - sets of nodes in both syntaxes: all, subsets with a step, sections of a grid, the
 * executing nodes. */
#include "check.h"

#pragma xmp nodes p(*)
#pragma xmp nodes same[*]
#pragma xmp nodes first(1) = p(1:1)
#pragma xmp nodes first_in_c[1] = same[0:1]

static void check_firsts(void) {
  int inside = 0;
#pragma xmp task on first
  {
    EXPECT_EQUAL(xmp_num_nodes(), 1);
    inside = 1;
  }
  EXPECT_EQUAL(inside, own_number() == 0);
#pragma xmp task on first_in_c
  inside = 2;
  EXPECT_EQUAL(inside, own_number() == 0 ? 2 : 0);
}

/* Every second node, from the first on. */
static void check_steps(void) {
  const int half = (xmp_all_num_nodes() + 1) / 2;
#pragma xmp nodes even(half) = p(1 : 2 * half - 1 : 2)
#pragma xmp nodes even_in_c[*] = same[0 : half : 2]
  int inside = 0;
#pragma xmp task on even
  {
    EXPECT_EQUAL(xmp_num_nodes(), half);
    EXPECT_EQUAL(xmp_node_num(), own_number() / 2 + 1);
    inside = 1;
  }
  EXPECT_EQUAL(inside, own_number() % 2 == 0);
#pragma xmp task on even_in_c
  {
    EXPECT_EQUAL(xmp_num_nodes(), half);
    EXPECT_EQUAL(xmp_node_num(), own_number() / 2 + 1);
    inside = 2;
  }
  EXPECT_EQUAL(inside, own_number() % 2 == 0 ? 2 : 0);
}

/* `rows` x 2 nodes, of which the last number changes fastest in C's order, the first in Fortran's.
 */
static void check_grid(void) {
  const int columns = xmp_all_num_nodes() % 2 == 0 ? 2 : 1, rows = xmp_all_num_nodes() / columns;
#pragma xmp nodes grid[*][columns]
#pragma xmp nodes grid_of_fortran(columns, *)
#pragma xmp nodes column[*] = grid[:][columns - 1]
#pragma xmp nodes row(*) = grid_of_fortran(:, rows)
  int inside = 0;
#pragma xmp task on column
  {
    EXPECT_EQUAL(xmp_num_nodes(), rows);
    inside = 1;
  }
  EXPECT_EQUAL(inside, own_number() % columns == columns - 1);
#pragma xmp task on row
  {
    EXPECT_EQUAL(xmp_num_nodes(), columns);
    inside = 2;
  }
  EXPECT_EQUAL(inside == 2, own_number() / columns == rows - 1);
}

/* In a task the executing nodes are those of the task. */
static void check_executing(void) {
  const int last = xmp_all_num_nodes() - 1;
  int members = 0;
#pragma xmp task on same[last:1]
  {
#pragma xmp nodes here[*] = *
#pragma xmp task on here
    members = xmp_num_nodes();
  }
  EXPECT_EQUAL(members, own_number() == last);
}

int main(void) {
  check_firsts();
  check_steps();
  check_grid();
  check_executing();
  EXPECT_EQUAL(xmp_num_nodes(), xmp_all_num_nodes());
  return say_ok();
}
