/* SPDX-License-Identifier: BSD-3-Clause */
/* subsets.c - arrays that lie on a part of the nodes: all nodes execute the directives, the others
 * have nothing to do; arrays of a task; loops over a grid of nodes. */
#include "check.h"

#define N 20

#pragma xmp nodes p[*]

static int nodes, own, half;

static void arrays_on_a_part(void) {
#pragma xmp nodes q[half] = p[0:half]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto q
  int field[N];
#pragma xmp align field[i] with t[i]
#pragma xmp shadow field[1]
  int made = 0;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) field[i] = 5 * i, made++;
  EXPECT(own < half || made == 0);
#pragma xmp reflect(field)
  int sum = 0;
#pragma xmp loop on t[i]
  for (int i = 1; i < N - 1; i++) sum += field[i - 1] + field[i + 1];
#pragma xmp reduction(+ : sum, made)
  EXPECT_EQUAL(made, N);
  EXPECT_EQUAL(sum, 2 * 5 * (N - 2) * (N - 1) / 2);
}

static void arrays_of_a_task(void) {
  int sum = -1;
#pragma xmp task on p[nodes - half : half]
  {
#pragma xmp nodes here[*] = *
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto here
    double field[N];
#pragma xmp align field[i] with t[i]
#pragma xmp shadow field[1:0]
#pragma xmp loop on t[i]
    for (int i = 0; i < N; i++) field[i] = i;
#pragma xmp reflect(field)
    sum = 0;
#pragma xmp loop on t[i] reduction(+ : sum)
    for (int i = 1; i < N; i++) sum += (int)field[i - 1];
    EXPECT_EQUAL(sum, (N - 2) * (N - 1) / 2);
  }
  EXPECT_EQUAL(sum >= 0, own >= nodes - half);
}

static void loops_over_a_grid(void) {
  const int columns = nodes % 2 == 0 ? 2 : 1, rows = nodes / columns;
#pragma xmp nodes grid[rows][columns]
  int row = -1, column = -1;
#pragma xmp loop(i, j) on grid[i][j]
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) row = i, column = j;
  EXPECT_EQUAL(row, own / columns);
  EXPECT_EQUAL(column, own % columns);
  int in_row = 1;
#pragma xmp reduction(+ : in_row) on grid[*][:]
  EXPECT_EQUAL(in_row, columns);
}

int main(void) {
  nodes = xmp_all_num_nodes(), own = own_number(), half = (nodes + 1) / 2;
  arrays_on_a_part();
  arrays_of_a_task();
  loops_over_a_grid();
  return say_ok();
}
