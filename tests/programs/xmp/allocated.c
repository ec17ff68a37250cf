/* SPDX-License-Identifier: BSD-3-Clause */
/* allocated.c - the shadow of an array that xmp_malloc has made, and the sum of it. */
#include "check.h"

#define N 48
#define M 3

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
static int (*u)[M];
#pragma xmp align u[i][*] with t[i]
#pragma xmp shadow u[1][0]

int main(void) {
  const int edges = xmp_all_num_nodes() - 1;
  int sum = 0;
  u = (int (*)[M])xmp_malloc(xmp_desc_of(u), N, M);
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) u[i][j] = 1;
#pragma xmp reflect(u)
#pragma xmp reduce_shadow(u)
#pragma xmp loop on t[i] reduction(+ : sum)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) sum += u[i][j];
  EXPECT_EQUAL(sum, N * M + 2 * edges * M);
  sum = 0;
#pragma xmp array on t[2:]
  u[2:][:] = 5;
#pragma xmp loop on t[i] reduction(+ : sum)
  for (int i = 0; i < N; i++) sum += u[i][M - 1];
  EXPECT_EQUAL(sum, 5 * (N - 2) + 2);
  xmp_free(xmp_desc_of(u));
  return say_ok();
}
