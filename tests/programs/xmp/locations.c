/* SPDX-License-Identifier: BSD-3-Clause */
/* locations.c - firstmax, lastmax, firstmin, lastmin: extreme values with the indexes where they
 * are. */
#include "check.h"

#define N 48
#define M 5

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p

static double heights[N];
static int table[N][M];
#pragma xmp align heights[i] with t[i]
#pragma xmp align table[i][*] with t[i]

/* Peaks of 9 at 5, 13, ..., 45; depths of 0 at 1, 9, ..., 41. */
static double height(int i) {
  return i % 8 == 5 ? 9 : i % 8 == 1 ? 0 : 1 + i % 3;
}

static void of_one_dimension(void) {
  double highest = -1, lowest = 100;
  int where = -1, where_lowest = -1;
#pragma xmp loop on t[i] reduction(firstmax : highest / where /) \
    reduction(firstmin : lowest / where_lowest /)
  for (int i = 0; i < N; i++) {
    heights[i] = height(i);
    if (heights[i] > highest) highest = heights[i], where = i;
    if (heights[i] < lowest) lowest = heights[i], where_lowest = i;
  }
  EXPECT(highest == 9 && lowest == 0);
  EXPECT_EQUAL(where, 5);
  EXPECT_EQUAL(where_lowest, 1);
  highest = -1, lowest = 100;
#pragma xmp loop on t[i] reduction(lastmax : highest / where /) \
    reduction(lastmin : lowest / where_lowest /)
  for (int i = 0; i < N; i++) {
    if (heights[i] >= highest) highest = heights[i], where = i;
    if (heights[i] <= lowest) lowest = heights[i], where_lowest = i;
  }
  EXPECT_EQUAL(where, 45);
  EXPECT_EQUAL(where_lowest, 41);
}

static void of_two_dimensions(void) {
  int most = -1, row = -1;
  long column = -1;
#pragma xmp loop on t[i] reduction(firstmax : most / row, column /)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      table[i][j] = (i * 31 + j * 57) % 241;
      if (table[i][j] > most) most = table[i][j], row = i, column = j;
    }
  int wanted = -1, wanted_row = -1, wanted_column = -1;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      if ((i * 31 + j * 57) % 241 > wanted)
        wanted = (i * 31 + j * 57) % 241, wanted_row = i, wanted_column = j;
  EXPECT_EQUAL(most, wanted);
  EXPECT_EQUAL(row, wanted_row);
  EXPECT_EQUAL(column, wanted_column);
}

/* Subscripts count as they were before the loop. */
static void of_elements(void) {
  double highest = -1;
  int k = 1, places[3] = {7, 7, 7}, parts[2][3] = {{7, 7, 7}, {7, 7, 7}};
#pragma xmp loop on t[i] reduction(firstmax : highest / places[k], parts[k][0 : k + 1] /)
  for (int i = 0; i < N; i++) {
    if (height(i) > highest) highest = height(i), places[1] = parts[1][0] = parts[1][1] = i;
    k = 2;
  }
  EXPECT(places[0] == 7 && places[1] == 5 && places[2] == 7);
  EXPECT(parts[0][0] == 7 && parts[1][0] == 5 && parts[1][1] == 5 && parts[1][2] == 7);
}

/* Without a loop nodes have an order. */
static void of_nodes(void) {
  const int own = own_number(), best = xmp_all_num_nodes() > 1;
  int most = own < 1 ? 1 : 2, least = -most, parts[2][2] = {{own, own}, {own, own}}, place = own;
#pragma xmp reduction(max : most / parts[1][:] /)
#pragma xmp reduction(min : least / place, parts[0][1] /)
  EXPECT(most == 1 + best && least == -most && place == best);
  EXPECT(parts[0][0] == own && parts[0][1] == best);
  EXPECT(parts[1][0] == best && parts[1][1] == best);
}

static int has_peak(int i, int j) {
  return (i * 5 + j * 7) % 9 == 3;
}

/* The peak that nested loops over both indexes, each 0 to SIDE - 1, meet first or last. */
#define SIDE 12
static void find(int wants_last, int by_columns, int outer_is_downwards, int* row, int* column) {
  *row = *column = -1;
  for (int n = 0; n < SIDE * SIDE; n++) {
    const int outer = outer_is_downwards ? SIDE - 1 - n / SIDE : n / SIDE, inner = n % SIDE;
    const int i = by_columns ? inner : outer, j = by_columns ? outer : inner;
    if (has_peak(i, j) && (wants_last || *row < 0)) *row = i, *column = j;
  }
}

#define EXPECT_FOUND(...)                         \
  do {                                            \
    find(__VA_ARGS__, &wanted_row, &wanted_column); \
    EXPECT_EQUAL(row, wanted_row);                \
    EXPECT_EQUAL(column, wanted_column);          \
    EXPECT_EQUAL(most, 1);                        \
    row = column = -1, most = 0;                  \
  } while (0)

/* Many equal values: first and last are the loops' order, whatever that of the nodes is. */
static void of_nests(void) {
  const int columns = xmp_all_num_nodes() > 1 ? 2 : 1;
#pragma xmp nodes grid[*][columns]
#pragma xmp template s[SIDE][SIDE]
#pragma xmp distribute s[block][block] onto grid
  if (own_number() >= xmp_all_num_nodes() / columns * columns) return; /* none of the grid */
  int row = -1, column = -1, most = 0, wanted_row, wanted_column;
#pragma xmp loop(i, j) on s[i][j] reduction(firstmax : most / row, column /)
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++)
      if (has_peak(i, j) > most) most = has_peak(i, j), row = i, column = j;
  EXPECT_FOUND(0, 0, 0);
#pragma xmp loop(i, j) on s[i][j] reduction(lastmax : most / row, column /)
  for (int j = 0; j < SIDE; j++)
    for (int i = 0; i < SIDE; i++)
      if (has_peak(i, j) >= most) most = has_peak(i, j), row = i, column = j;
  EXPECT_FOUND(1, 1, 0);
#pragma xmp loop(i, j) on s[i][j] reduction(firstmax : most / row, column /)
  for (int i = SIDE - 1; i >= 0; i--)
    for (int j = 0; j < SIDE; j++)
      if (has_peak(i, j) > most) most = has_peak(i, j), row = i, column = j;
  EXPECT_FOUND(0, 0, 1);
#pragma xmp loop(j) on s[:][j] reduction(lastmax : most / row, column /)
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++)
      if (has_peak(i, j) >= most) most = has_peak(i, j), row = i, column = j;
  EXPECT_FOUND(1, 0, 0);
}

/* A value from before the loop that no iteration takes again keeps its place. */
static void of_values_from_before(void) {
  double highest = 9;
  int where = -1;
#pragma xmp loop on t[i] reduction(lastmax : highest / where /)
  for (int i = 0; i < N; i++)
    if (height(i) >= highest && i < 16) highest = height(i), where = i;
  EXPECT_EQUAL(where, 13);
}

int main(void) {
  of_elements();
  of_nodes();
  of_one_dimension();
  of_two_dimensions();
  of_nests();
  of_values_from_before();
  return say_ok();
}
