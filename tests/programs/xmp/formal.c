/* SPDX-License-Identifier: BSD-3-Clause */
/* formal.c - a distributed array that two units share through a header, and distributed arrays as
 * arguments. The other unit is formal_other.c. */
#include "formal.h"

#include "check.h"

double shared[N][M];
static double own_of_unit[N][M];
#pragma xmp align own_of_unit[i][*] with t[i]
#pragma xmp shadow own_of_unit[1][0]
static int rows[M][2][N];
#pragma xmp align rows[*][*][i] with t[i]
#pragma xmp shadow rows[0][0][1]

/* Here the address of `total` is taken nowhere. */
static void add_by_pointer(void) {
#pragma xmp loop on t[i] reduction(+ : total)
  for (int i = 0; i < N; i++) *place_of_total += i;
  EXPECT_EQUAL(total, N * (N - 1) / 2);
}

/* clang-format off */
static void set(double of[N][M], double number)
#pragma xmp align of[i][*] with t[i]
#pragma xmp shadow of[1][0]
{
#pragma xmp array on t[:]
  of[:][:] = number;
}
/* clang-format on */

static void add_to_row(int row[N], int number) {
#pragma xmp align row[i] with t[i]
#pragma xmp shadow row[1]
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) row[i] += number * i;
}

static int sum_of_rows(int two[2][N]) {
#pragma xmp align two[*][i] with t[i]
#pragma xmp shadow two[0][1]
  int sum = 0;
#pragma xmp loop on t[i] reduction(+ : sum)
  for (int i = 0; i < N; i++) sum += two[0][i] + 10 * two[1][i];
  return sum;
}

static void check_rows(void) {
  for (int round = 0; round < 2; round++)
    for (int j = 0; j < M; j++) add_to_row(rows[j][0], j), add_to_row(rows[j][1], 1);
  for (int j = 0; j < M; j++) EXPECT_EQUAL(sum_of_rows(rows[j]), N * (N - 1) * (j + 10));
}

int main(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) shared[i][j] = i, own_of_unit[i][j] = j;
  add(shared, own_of_unit, 2);
  add_to_shared(5);
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) EXPECT(shared[i][j] == i + 2 * j + 5);
  add_by_pointer();
  const int rows = N - 1;
  const double of_columns = rows * M * (M - 1) / 2.0, of_rows = M * rows * (rows - 1) / 2.0;
  EXPECT(sum_of_all_but_the_last_row(own_of_unit) == of_columns);
  EXPECT(sum_of_all_but_the_last_row(shared) == of_rows + 2 * of_columns + 5.0 * rows * M);
  check_rows();
  set(shared, 3);
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) EXPECT(shared[i][j] == 3);
  return say_ok();
}
