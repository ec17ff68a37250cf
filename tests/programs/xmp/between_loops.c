/* SPDX-License-Identifier: BSD-3-Clause */
/* between_loops.c - statements between distributed loops, each of which has a directive of its own. */
#include "check.h"

#define N 12

#pragma xmp nodes p(1, *)
#pragma xmp template t(0 : N - 1, 0 : N - 1)
#pragma xmp distribute t(block, block) onto p
static int a[N][N], rows[N];
#pragma xmp align a[i][j] with t(j, i)
#pragma xmp align rows[i] with t(*, i)

int main(void) {
#pragma xmp loop on t(*, i)
  for (int i = 0; i < N; i++) {
    rows[i] = 10 * i;
#pragma xmp loop on t(j, *)
    for (int j = 0; j < N; j++) a[i][j] = rows[i] + j;
  }
  long sum = 0;
#pragma xmp loop on t(j, i) reduction(+ : sum)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) sum += a[i][j];
  EXPECT_EQUAL(sum, N * N * (N - 1) / 2 * 11);
  return say_ok();
}
