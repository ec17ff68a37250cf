/* SPDX-License-Identifier: BSD-3-Clause */
/* expressions.c - distributed arrays in all kinds of expressions and declarations, among other things
 * that have their names. */
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "check.h"

#define N 26
#define M 4
#define TEXT(x) #x

/* Names of parameters that no function has. */
typedef void (*right_side)(double t, const double* p);

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p

typedef double row[M];
typedef struct item {
  int a, table;
  struct item* next;
} item;
enum { ROWS = N };

/* By builtins of the compiler, which are constants. */
static double most = -INFINITY;
static atomic_int meetings;
_Static_assert(__builtin_popcount(3) == 2, "a builtin");

static double other, table[ROWS][M], *pointer;
static row rows[N];
int a[N];
static item items[N];
static volatile unsigned short counts[N];
#pragma xmp align table[i][*] with t[i]
#pragma xmp align rows[i][*] with t[i]
#pragma xmp align a[i] with t[i]
#pragma xmp align items[i] with t[i]
#pragma xmp align counts[i] with t[i]

/* Names that look like parts of others'. */
static int a_0[N], nodes_p[N], first0_a[N];
#pragma xmp align a_0[i] with t[i]
#pragma xmp align nodes_p[i] with t[i]
#pragma xmp align first0_a[i] with t[i]

static void names_that_contain_others(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) a_0[i] = nodes_p[i] = first0_a[i] = a[i];
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) EXPECT(a_0[i] == a[i] && nodes_p[i] == a[i] && first0_a[i] == a[i]);
#pragma xmp barrier on p
}

static int twice(int a) {
  return 2 * a;
}

static void names_of_other_things(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    item one = {.a = i, .table = 7};
    items[i] = one;
    items[i].a += one.table;
    a[i] = items[i].a;
    {
      int a = 5;
      items[i].table = a + twice(a);
    }
    EXPECT_EQUAL(a[i], i + 7);
    EXPECT_EQUAL((&items[i])->table, 15);
    EXPECT(strcmp(TEXT(a[i]), "a[i]") == 0 && strcmp("a[0]", TEXT(a[0])) == 0);
    if (i < 0) goto a;
  a:
    continue;
  }
  __typeof__(a[0]) number = 3;
  EXPECT_EQUAL(sizeof(__typeof__(table[0])), sizeof(row));
  EXPECT_EQUAL(offsetof(item, table), sizeof(int));
  EXPECT_EQUAL(number, 3);
}

static void indexes(void) {
#pragma xmp loop on t[i]
  for (unsigned i = 0; i < N; i++) {
    unsigned long u = i;
    signed char c = (signed char)i;
    size_t k = 0;
    a[u] = (int)u;
    a[c] += 1;
    a[a[i] - 1] += 1;
    table[c][k++] = a[i], table[u][k++] = a[u + 0UL], table[i][k] = (double)k;
    EXPECT_EQUAL(k, 2);
    EXPECT(table[i][0] == i + 2 && table[i][1] == i + 2 && table[i][2] == 2);
    counts[i] = 3;
    counts[i] <<= 2, counts[i] |= 1, ++counts[i], counts[i]--;
    EXPECT_EQUAL(counts[i], 13);
    const int chosen = i % 2 ? a[i] : -1;
    EXPECT_EQUAL(chosen, i % 2 ? (int)i + 2 : -1);
    a[i] = ({
      int inner = a[i];
      inner - 2;
    });
    EXPECT_EQUAL(a[i], i);
  }
}

static double first_of(const double* numbers) {
  return numbers[0];
}
static double sum_of_row(double (*one)[M]) {
  double sum = 0;
  for (int j = 0; j < M; j++) sum += (*one)[j];
  return sum;
}

static void pointers(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < M; j++) rows[i][j] = 10 * i + j;
    pointer = rows[i];
    row* const whole = &rows[i];
    EXPECT(pointer[2] == 10 * i + 2 && (*whole)[3] == 10 * i + 3 && *rows[i] == 10 * i);
    EXPECT(*(rows[i] + 1) == 10 * i + 1 && (rows[i] + 1)[1] == 10 * i + 2);
    EXPECT(first_of(rows[i]) == 10 * i && sum_of_row(&rows[i]) == 40 * i + 6);
    EXPECT_EQUAL((uintptr_t) & (rows) - (uintptr_t)&rows, 0);
    if (most < rows[i][0]) most = rows[i][0];
    EXPECT(most == rows[i][0]);
    EXPECT((uintptr_t)&rows[i][1] - (uintptr_t)&rows[i] == sizeof(double));
    other = i % 2 ? rows[i][1] : -table[i][2];
    EXPECT(other == (i % 2 ? 10 * i + 1 : -2));
  }
}

static int switches_and_labels(int which) {
  int sum = 0;
  switch (which) {
    case 0:
#pragma xmp loop on t[i] reduction(+ : sum)
      for (int i = 0; i < N; i++) sum += a[i];
      break;
    case 1:
    again:
#pragma xmp barrier
      if (++sum < 3) goto again;
      break;
    default:
      do {
#pragma xmp reduction(max : which)
        sum += which;
      } while (sum < 10);
  }
  return sum;
}

/* An inner scope has nodes, a template and an array of the same names. */
static void scopes(void) {
  {
#pragma xmp template t[2 * N]
#pragma xmp distribute t[block] onto p
    long a[2 * N];
#pragma xmp align a[i] with t[i]
#pragma xmp loop on t[i]
    for (int i = 0; i < 2 * N; i++) a[i] = -1;
    int sum = 0;
#pragma xmp loop on t[i] reduction(+ : sum)
    for (int i = 0; i < 2 * N; i++) sum += (int)a[i];
    EXPECT_EQUAL(sum, -2 * N);
  }
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) EXPECT_EQUAL(a[i], i);
}

/* By macros of the compiler's header. */
static void atomics(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) atomic_fetch_add(&meetings, a[i] == i);
  int all = atomic_load(&meetings);
#pragma xmp reduction(+ : all)
  EXPECT_EQUAL(all, N);
}

int main(void) {
  names_of_other_things();
  indexes();
  pointers();
  names_that_contain_others();
  EXPECT_EQUAL(switches_and_labels(0), N * (N - 1) / 2);
  EXPECT_EQUAL(switches_and_labels(1), 3);
  EXPECT_EQUAL(switches_and_labels(5), 10);
  scopes();
  atomics();
  return say_ok();
}
