/* SPDX-License-Identifier: BSD-3-Clause */
/* reductions.c - every operation and type, scalars and arrays, as a directive and as a clause. */
#include <complex.h>
#include <stdbool.h>

#include "check.h"

#define N 40

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p

static double squares[N];
#pragma xmp align squares[i] with t[i]

static int nodes, own;

static void of_integers(void) {
  int sum = own + 1, product = own < 10 ? 2 : 1, least = 5 - own, greatest = 3 * own;
#pragma xmp reduction(+ : sum)
#pragma xmp reduction(* : product)
#pragma xmp reduction(min : least)
#pragma xmp reduction(max : greatest)
  EXPECT_EQUAL(sum, nodes * (nodes + 1) / 2);
  EXPECT_EQUAL(product, 1 << (nodes < 10 ? nodes : 10));
  EXPECT_EQUAL(least, 6 - nodes);
  EXPECT_EQUAL(greatest, 3 * (nodes - 1));
  unsigned both = ~(1u << own), any = 1u << own, odd = 1u << own | 1;
#pragma xmp reduction(& : both)
#pragma xmp reduction(| : any)
#pragma xmp reduction(^ : odd)
  EXPECT_EQUAL(both, ~((1u << nodes) - 1));
  EXPECT_EQUAL(any, (1u << nodes) - 1);
  EXPECT_EQUAL(odd, (1u << nodes) - 2 + (unsigned)nodes % 2);
  int all = 7, all_but_one = own != nodes - 1, some = own == nodes - 1 ? 4 : 0, none = 0;
#pragma xmp reduction(&& : all, all_but_one)
#pragma xmp reduction(|| : some, none)
  EXPECT(all == 1 && all_but_one == 0 && some == 1 && none == 0);
}

/* The sum of own + 1 over all nodes in each type. */
static void of_all_types(void) {
  const int wanted = nodes * (nodes + 1) / 2;
  signed char c = own % 2 == 0 ? -2 : 1;
  unsigned char uc = (unsigned char)(own + 1);
  short s = (short)(own + 1);
  unsigned short us = (unsigned short)(own + 1);
  unsigned u = (unsigned)own + 1;
  long l = own + 1L - (1L << 40);
  unsigned long ul = 1UL << (own + 32);
  long long ll = own + 1;
  float f = (float)(own + 1) / 4;
  double d = (own + 1) / 8.0;
  long double ld = (own + 1) / 16.0L;
  double complex z = own + 1 + 2 * (own + 1) * I;
  float complex cf = (float)(own + 1) * I;
  bool b = own == 0;
#pragma xmp reduction(+ : c, uc, s, us, u, l, ul, ll, f, d, ld, z, cf)
#pragma xmp reduction(|| : b)
  EXPECT_EQUAL(c, nodes / 2 - 2 * ((nodes + 1) / 2));
  EXPECT(uc == wanted && s == wanted && us == wanted && u == (unsigned)wanted && ll == wanted);
  EXPECT_EQUAL(l, wanted - ((long)nodes << 40));
  EXPECT_EQUAL(ul, ((1UL << nodes) - 1) << 32);
  EXPECT(f == (float)wanted / 4 && d == wanted / 8.0 && ld == wanted / 16.0L);
  EXPECT(creal(z) == wanted && cimag(z) == 2 * wanted && cimagf(cf) == (float)wanted);
  EXPECT(b);
}

static void of_arrays(void) {
  int numbers[3][5];
  double maxima[1000];
  for (int n = 0; n < 15; n++) numbers[n / 5][n % 5] = n + own;
  for (int n = 0; n < 1000; n++) maxima[n] = n % nodes == own ? n : -1;
#pragma xmp reduction(+ : numbers) on p
#pragma xmp reduction(max : maxima) on p[:]
  for (int n = 0; n < 15; n++)
    EXPECT_EQUAL(numbers[n / 5][n % 5], nodes * n + nodes * (nodes - 1) / 2);
  for (int n = 0; n < 1000; n++) EXPECT(maxima[n] == n);
}

static void of_parts_of_arrays(void) {
  int line[5], table[3][4], *const pointer = line;
  for (int n = 0; n < 5; n++) line[n] = own;
  for (int n = 0; n < 12; n++) table[n / 4][n % 4] = own;
#pragma xmp reduction(+ : line[1:2])
#pragma xmp reduction(max : table[1][1:2], pointer[4:1])
  const int sum = nodes * (nodes - 1) / 2;
  EXPECT(line[0] == own && line[1] == sum && line[2] == sum && line[3] == own);
  EXPECT_EQUAL(line[4], nodes - 1);
  EXPECT(table[1][1] == nodes - 1 && table[1][2] == nodes - 1 && table[1][0] == own);
  EXPECT(table[0][1] == own && table[2][2] == own);
}

static void of_loops(void) {
  double sum = 0, product = 1, least = 1e9, greatest = -1e9;
  long count = 0;
#pragma xmp loop on t[i] reduction(+ : sum, count) reduction(* : product) \
    reduction(min : least) reduction(max : greatest)
  for (int i = 0; i < N; i++) {
    squares[i] = (double)i * i;
    sum += squares[i], count++;
    product *= i % 4 == 0 ? 2 : 1;
    if (squares[i] < least) least = squares[i];
    if (squares[i] > greatest) greatest = squares[i];
  }
  EXPECT_EQUAL(count, N);
  EXPECT(sum == N * (N - 1.0) * (2 * N - 1) / 6 && product == 1 << N / 4);
  EXPECT(least == 0 && greatest == (N - 1.0) * (N - 1));
  int histogram[4] = {0};
#pragma xmp loop on t[i] reduction(+ : histogram)
  for (int i = 0; i < N; i++) histogram[i % 4]++;
  for (int n = 0; n < 4; n++) EXPECT_EQUAL(histogram[n], N / 4);
}

static double wide[2000000]; /* more than a stack has */

static void of_elements_in_loops(void) {
  int sums[3] = {5, 5, 5}, table[2][2] = {{0}}, k = 1;
  enum __attribute__((packed)) { NONE, SOME } found[2] = {NONE, NONE};
#pragma xmp loop on t[i] reduction(+ : sums[0], sums[2]) reduction(max : table[k], found[0])
  for (int i = 0; i < N; i++) {
    sums[0]++, sums[2] += 2;
    if (i > table[1][0]) table[1][0] = i;
    if (i == N / 2) found[0] = SOME;
    k = 0;
  }
  EXPECT(sums[0] == 5 + N && sums[1] == 5 && sums[2] == 5 + 2 * N);
  EXPECT(table[1][0] == N - 1 && table[0][0] == 0 && table[1][1] == 0);
  EXPECT(found[0] == SOME && found[1] == NONE);
#pragma xmp loop on t[i] reduction(+ : wide)
  for (int i = 0; i < N; i++) wide[i * 1000] = 1;
  for (int i = 0; i < N; i++) EXPECT(wide[i * 1000] == 1 && wide[i * 1000 + 1] == 0);
}

/* Subscripts and lengths mean the values from before the loop, also of a variable that another
 * clause reduces. */
static void of_several_clauses(void) {
  int k = 2, most = -1, maxima[4] = {-1, -1, -1, -1}, sums[4] = {0}, at[4] = {7, 7, 7, 7};
#pragma xmp loop on t[i] reduction(+ : k) reduction(max : maxima[k], maxima[0]) \
    reduction(+ : sums[0 : k]) reduction(+ : sums[sums[2] + 3]) reduction(firstmax : most / at[k] /)
  for (int i = 0; i < N; i++) {
    k++, maxima[2] = i, maxima[0] = 1, sums[0]++, sums[1] += 2, sums[3] += 3;
    if (i > most) most = i, at[2] = i;
  }
  EXPECT_EQUAL(k, 2 + N);
  EXPECT(maxima[0] == 1 && maxima[1] == -1 && maxima[2] == N - 1 && maxima[3] == -1);
  EXPECT(sums[0] == N && sums[1] == 2 * N && sums[2] == 0 && sums[3] == 3 * N);
  EXPECT(most == N - 1 && at[0] == 7 && at[1] == 7 && at[2] == N - 1);
}

/* As in the serial program: a value from before the loop counts once. */
static void of_a_sum_that_goes_on(void) {
  int sum = 1000;
#pragma xmp loop on t[i] reduction(+ : sum)
  for (int i = 0; i < N; i++) sum += i;
  EXPECT_EQUAL(sum, 1000 + N * (N - 1) / 2);
}

/* The array keeps the size of its declaration. */
static void of_an_array_of_a_variable_length(void) {
  int n = 5;
  double line[n], table[2][n];
  for (int i = 0; i < 5; i++) line[i] = table[0][i] = table[1][i] = i;
  n = 1;
#pragma xmp reduction(+ : line, table[1])
  for (int i = 0; i < 5; i++)
    EXPECT(line[i] == i * nodes && table[1][i] == i * nodes && table[0][i] == i);
}

static void of_formal_arrays(int n, int line[n], int table[][n], int* flags) {
#pragma xmp reduction(+ : line, table[1])
#pragma xmp reduction(| : flags[1 : n - 1])
}

static void of_what_a_caller_has(void) {
  int line[3] = {1, 1, 1}, table[2][3] = {{1, 1, 1}, {1, 1, 1}}, flags[3] = {0, own == 0, 2};
  of_formal_arrays(3, line, table, flags);
  for (int i = 0; i < 3; i++)
    EXPECT(line[i] == nodes && table[0][i] == 1 && table[1][i] == nodes);
  EXPECT(flags[0] == 0 && flags[1] == 1 && flags[2] == 2);
}

/* Blocks of rows, which each column of the nodes has. */
static void of_blocks_that_several_have(void) {
#pragma xmp nodes row[1][nodes]
#pragma xmp template m[8][N]
#pragma xmp distribute m[block][block] onto row
  int y[8];
#pragma xmp align y[i] with m[i][*]
#pragma xmp loop on m[i][*]
  for (int i = 0; i < 8; i++) y[i] = i;
#pragma xmp loop(j) on m[:][j] reduction(+ : y)
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < N; j++) y[i]++;
#pragma xmp loop on m[i][*]
  for (int i = 0; i < 8; i++) EXPECT_EQUAL(y[i], i + N);
  for (int i = 0; i < 8; i++) {
#pragma xmp loop(j) on m[i][j] reduction(+ : y)
    for (int j = 0; j < N; j++) y[i] -= j == i;
  }
#pragma xmp loop on m[i][*]
  for (int i = 0; i < 8; i++) EXPECT_EQUAL(y[i], i + N - 1);
#pragma xmp bcast(y) on row[0][:]
#pragma xmp reduction(+ : y) on m[*][:]
#pragma xmp loop on m[i][*]
  for (int i = 0; i < 8; i++) EXPECT_EQUAL(y[i], nodes * (i + N - 1));
}

static void of_a_part(void) {
  const int half = (nodes + 1) / 2;
  int sum = 1;
#pragma xmp task on p[0:half]
  {
#pragma xmp reduction(+ : sum)
  } EXPECT_EQUAL(sum, own < half ? half : 1);
}

static void of_a_later_time(void) {
  int sum = 1, most = own;
#pragma xmp reduction(+ : sum) async(1)
#pragma xmp reduction(max : most) async(2)
#pragma xmp wait_async(1, 2)
  EXPECT(sum == nodes && most == nodes - 1);
}

int main(void) {
  nodes = xmp_all_num_nodes(), own = own_number();
  of_integers();
  of_all_types();
  of_arrays();
  of_parts_of_arrays();
  of_loops();
  of_elements_in_loops();
  of_several_clauses();
  of_a_sum_that_goes_on();
  of_an_array_of_a_variable_length();
  of_what_a_caller_has();
  of_blocks_that_several_have();
  of_a_part();
  of_a_later_time();
  return say_ok();
}
