/* SPDX-License-Identifier: BSD-3-Clause */
/* arrays.c - distributed arrays of all kinds of elements and shapes: alignment with an offset, with
 * `*`, by transposed and replicated dimensions; sizeof, addresses, rows as arguments. */
#include <complex.h>
#include <stdint.h>

#include "check.h"

#define N 23
#define M 6

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
#pragma xmp template wider(-3 : N + 4)
#pragma xmp distribute wider(block) onto p
#pragma xmp nodes grid[*][1]
#pragma xmp template t2[N][M]
#pragma xmp distribute t2[block][block] onto grid

typedef struct particle {
  double x[3];
  char name[5];
} particle;

static double line[N], matrix[N][M], columns[M][N], cube[M][N][2];
static char letters[N];
static float complex waves[N];
static particle particles[N];
static int shifted[N], transposed[M][N], copies[N], *pointers[N];
extern int shifted_too[N - 2];
int shifted_too[N - 2];
static int aligned_in_function[N];

#pragma xmp align line[i] with t[i]
#pragma xmp align matrix[i][*] with t[i]
#pragma xmp align columns[*][j] with t[j]
#pragma xmp align cube[*][i][*] with t[i]
#pragma xmp align letters[i] with t[i]
#pragma xmp align waves[i] with t[i]
#pragma xmp align particles[i] with t[i]
#pragma xmp align pointers[i] with t[i]
#pragma xmp align shifted[i] with wider(i - 3)
#pragma xmp align shifted_too[i] with t[i + 2]
#pragma xmp align transposed[j][i] with t2[i][j]
#pragma xmp align copies[i] with t2[i][*]

static void elements(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    line[i] = i;
    letters[i] = (char)('a' + i);
    waves[i] = (float)i + 2 * (float)i * I;
    particles[i] = (particle){{i, i + 1, i + 2}, "name"};
    particles[i].name[0] = letters[i];
    pointers[i] = &copies[0];
    for (int k = 0; k < M; k++) matrix[i][k] = columns[k][i] = i + 100 * k;
    for (int k = 0; k < M; k++) cube[k][i][0] = i, cube[k][i][1] = k;
  }
  int seen = 0;
#pragma xmp loop on t[i] reduction(+ : seen)
  for (int i = N - 1; i >= 0; i--) {
    EXPECT(line[i] == i && letters[i] == 'a' + i && cimagf(waves[i]) == 2 * (float)i);
    const particle* const one = &particles[i];
    EXPECT(one->x[2] == i + 2 && strcmp(one->name + 1, "ame") == 0 && one->name[0] == letters[i]);
    for (int k = 0; k < M; k++) EXPECT(matrix[i][k] == i + 100 * k && columns[k][i] == i + 100 * k);
    for (int k = 0; k < M; k++) EXPECT(cube[k][i][0] == i && cube[k][i][1] == k);
    seen++;
  }
  EXPECT_EQUAL(seen, N);
}

static void offsets(void) {
#pragma xmp loop on wider(i - 3)
  for (int i = 0; i < N; i++) shifted[i] = 7 * i;
#pragma xmp loop on wider(i)
  for (int i = -3; i < N - 3; i++) EXPECT_EQUAL(shifted[i + 3], 7 * (i + 3));
#pragma xmp loop on t[i]
  for (int i = 2; i < N; i++) shifted_too[i - 2] = i;
#pragma xmp loop on t[i + 2]
  for (int i = 0; i < N - 2; i++) EXPECT_EQUAL(shifted_too[i], i + 2);
}

static void transposition(void) {
#pragma xmp loop(i, j) on t2[i][j]
  for (int j = 0; j < M; j++)
    for (int i = 0; i < N; i++) transposed[j][i] = 10 * i + j;
#pragma xmp loop on t2[i][*]
  for (int i = 0; i < N; i++) copies[i] = i;
#pragma xmp loop(i, j) on t2[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) EXPECT_EQUAL(transposed[j][i], 10 * copies[i] + j);
}

static double sum_of(const double* row, int count) {
  double sum = 0;
  for (int n = 0; n < count; n++) sum += row[n];
  return sum;
}

/* Expressions in which an array is more than an element. */
static void sizes_and_addresses(void) {
  EXPECT_EQUAL(sizeof line, N * sizeof(double));
  EXPECT_EQUAL(sizeof(matrix), N * M * sizeof(double));
  EXPECT_EQUAL(sizeof matrix[0], M * sizeof(double));
  EXPECT_EQUAL(sizeof cube / sizeof cube[0], M);
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    EXPECT(sum_of(matrix[i], M) == M * i + 100 * M * (M - 1) / 2);
    double *const first = &matrix[i][0], *const last = &matrix[i][M - 1];
    EXPECT_EQUAL(last - first, M - 1);
    memset(&matrix[i], 0, sizeof matrix[i]);
    EXPECT(*first == 0 && *last == 0);
    *last = i;
    EXPECT(matrix[i][M - 1] == i && *(matrix[i] + M - 1) == i);
    int j = i, k = 0;
    matrix[j][k++] += 3, matrix[j][k]--;
    EXPECT(matrix[i][0] == 3 && matrix[i][1] == -1);
  }
}

static void align_of_the_file(void) {
#pragma xmp align aligned_in_function[i] with t[i]
#pragma xmp shadow aligned_in_function[1]
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) aligned_in_function[i] += i;
#pragma xmp reflect(aligned_in_function)
#pragma xmp loop on t[i]
  for (int i = 1; i < N - 1; i++) {
    const int sum = aligned_in_function[i - 1] + aligned_in_function[i + 1];
    EXPECT_EQUAL(sum, aligned_in_function[i] * 2);
    EXPECT_EQUAL(sum % i, 0);
  }
}

int main(void) {
  elements();
  align_of_the_file();
  align_of_the_file(); /* it keeps its elements */
  offsets();
  transposition();
  sizes_and_addresses();
  return say_ok();
}
