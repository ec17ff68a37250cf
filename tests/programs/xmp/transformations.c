/* SPDX-License-Identifier: BSD-3-Clause */
/* transformations.c - the transformational functions, beside the results of loops over whole arrays,
 * which every node has. The macros X and Y give the distributions of results and of arguments. */
#include <stdlib.h>

#include "check.h"
#ifndef X
#define X block
#define Y block
#endif
#define N 10
#define M 7
#define SIZE 30

#pragma xmp nodes p[*]
#pragma xmp nodes g(xmp_all_num_nodes())
#pragma xmp template tv[SIZE]
#pragma xmp distribute tv[X] onto p
#pragma xmp template tm[N][M]
#pragma xmp distribute tm[Y][*] onto p
#pragma xmp template tc(1 : N + 1, 1 : M + 2)
#pragma xmp distribute tc(X, *) onto g
#pragma xmp template ts[N]
#pragma xmp distribute ts[Y] onto p

int vector[SIZE];
#pragma xmp align vector[i] with tv[i]
int matrix[N][M], mask[N][M];
#pragma xmp align matrix[i][j] with tm[i][j]
#pragma xmp align mask[i][j] with tm[i][j]
int turned[M][N], first[M][N], second[M][N];
#pragma xmp align turned[j][i] with tc(i + 1, j + 1)
#pragma xmp align first[j][i] with tc(i + 1, j + 1)
#pragma xmp align second[j][i] with tc(i + 1, j + 1)
double left[N][N], right[N][M], product[N][M];
#pragma xmp align left[*][k] with ts[k]
#pragma xmp align right[i][j] with tm[i][j]
#pragma xmp align product[i][j] with tm[i][j]
float unsorted[SIZE], sorted[SIZE];
#pragma xmp align unsorted[i] with tv[i]
#pragma xmp align sorted[i] with tv[i]
long copies[N], row[N];
#pragma xmp align copies[*] with ts[*]
#pragma xmp align row[i] with ts[i]
int row_index[N];
#pragma xmp align row_index[i] with ts[i]

static int value_of(int i, int j) {
  return (i * 31 + j * 17 + 5) % 29;
}

static void fill(void) {
#pragma xmp loop (i) on tm[i][*]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      matrix[i][j] = value_of(i, j);
      right[i][j] = value_of(j, i);
      mask[i][j] = value_of(i, j) % 3 == 0;
    }
#pragma xmp loop (i) on tc(i + 1, *)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      turned[j][i] = -1;
      first[j][i] = (i + 3) % N; /* which element of matrix */
      second[j][i] = M - 1 - j;
    }
#pragma xmp loop on tv[i]
  for (int i = 0; i < SIZE; i++) {
    vector[i] = -7;
    unsorted[i] = (float)value_of(i, 3) / 2;
    sorted[i] = 0;
  }
#pragma xmp loop (k) on ts[k]
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++) left[i][k] = value_of(i, k + 2);
}

static void test_transpose(void) {
  xmp_transpose(xmp_desc_of(turned), xmp_desc_of(matrix), 0);
#pragma xmp loop (i) on tc(i + 1, *)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) EXPECT_EQUAL(turned[j][i], value_of(i, j));
}

static void test_gather_and_scatter(void) {
  xmp_gather(xmp_desc_of(turned), xmp_desc_of(matrix), xmp_desc_of(first), xmp_desc_of(second));
#pragma xmp loop (i) on tc(i + 1, *)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      EXPECT_EQUAL(turned[j][i], value_of((i + 3) % N, M - 1 - j));
      turned[j][i] = 1000 * i + j;
    }
  xmp_scatter(xmp_desc_of(matrix), xmp_desc_of(turned), xmp_desc_of(first), xmp_desc_of(second));
#pragma xmp loop (i) on tm[i][*]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      EXPECT_EQUAL(matrix[i][j], 1000 * ((i + N - 3) % N) + (M - 1 - j));
}

static void test_pack_and_unpack(void) {
  int packed[N * M], count = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      if (value_of(i, j) % 3 == 0) packed[count++] = value_of(i, j);
  EXPECT(count > 5 && count <= SIZE);
  xmp_pack(xmp_desc_of(vector), xmp_desc_of(matrix), xmp_desc_of(mask));
#pragma xmp loop on tv[i]
  for (int i = 0; i < SIZE; i++) {
    EXPECT_EQUAL(vector[i], i < count ? packed[i] : -7);
    vector[i] = 500 + i;
  }
  xmp_unpack(xmp_desc_of(matrix), xmp_desc_of(vector), xmp_desc_of(mask));
  int at = 0, wanted[N][M];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      wanted[i][j] = value_of(i, j) % 3 == 0 ? 500 + at++ : value_of(i, j);
#pragma xmp loop (i) on tm[i][*]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) EXPECT_EQUAL(matrix[i][j], wanted[i][j]);
}

static void test_matmul(void) {
  xmp_matmul(xmp_desc_of(product), xmp_desc_of(left), xmp_desc_of(right));
#pragma xmp loop (i) on tm[i][*]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      double sum = 0;
      for (int k = 0; k < N; k++) sum += value_of(i, k + 2) * value_of(j, k);
      EXPECT(product[i][j] == sum);
    }
}

static int compare(const void* a, const void* b) {
  const float x = *(const float*)a, y = *(const float*)b;
  return (x > y) - (x < y);
}

static void test_sort(void) {
  float all[SIZE];
  for (int i = 0; i < SIZE; i++) all[i] = (float)value_of(i, 3) / 2;
  qsort(all, SIZE, sizeof all[0], compare);
  xmp_sort_up(xmp_desc_of(sorted), xmp_desc_of(unsorted));
#pragma xmp loop on tv[i]
  for (int i = 0; i < SIZE; i++) EXPECT(sorted[i] == all[i]);
  xmp_sort_down(xmp_desc_of(sorted), xmp_desc_of(unsorted));
#pragma xmp loop on tv[i]
  for (int i = 0; i < SIZE; i++) EXPECT(sorted[i] == all[SIZE - 1 - i]);
}

/* Every node has a copy of `copies`. */
static void test_copies(void) {
#pragma xmp loop on ts[i]
  for (int i = 0; i < N; i++) row[i] = 10 * i, row_index[i] = N - 1 - i;
  xmp_scatter(xmp_desc_of(copies), xmp_desc_of(row), xmp_desc_of(row_index));
  for (int i = 0; i < N; i++) EXPECT_EQUAL(copies[i], 10L * (N - 1 - i));
  for (int i = 0; i < N; i++) copies[i] = i * i;
  xmp_gather(xmp_desc_of(row), xmp_desc_of(copies), xmp_desc_of(row_index));
#pragma xmp loop on ts[i]
  for (int i = 0; i < N; i++) EXPECT_EQUAL(row[i], (long)(N - 1 - i) * (N - 1 - i));
}

int main(void) {
  fill();
  test_transpose();
  test_gather_and_scatter();
  fill();
  test_pack_and_unpack();
  test_matmul();
  test_sort();
  test_copies();
  return say_ok();
}
