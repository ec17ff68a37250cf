/* SPDX-License-Identifier: BSD-3-Clause */
/* combined.c - several declarations in one directive, and several names in one. */
#include "check.h"

#define N 20

#pragma xmp nodes p[*], q(*)
#pragma xmp nodes :: r[*]
#pragma xmp template, distribute[block] onto p :: t[N]
#pragma xmp template u(0 : N - 1), v(0 : N - 1)
#pragma xmp distribute(block) onto q :: u, v

static int a[N], b[N], c[N][3];
#pragma xmp align[i] with t[i], shadow[1] :: a, b
#pragma xmp align[i][*] with u(i) :: c
#pragma xmp shadow[1][0] :: c

int main(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) a[i] = i, b[i] = 2 * i;
#pragma xmp loop on u(i)
  for (int i = 0; i < N; i++) c[i][1] = 3 * i;
#pragma xmp reflect(a, b, c)
#pragma xmp loop on t[i]
  for (int i = 1; i < N - 1; i++) {
    EXPECT_EQUAL(a[i + 1] + b[i - 1], 3 * i - 1);
    EXPECT_EQUAL(c[i - 1][1] + c[i + 1][1], 6 * i);
  }
  int made = 0;
#pragma xmp loop on v(i) reduction(+ : made)
  for (int i = 0; i < N; i++) made++;
  EXPECT_EQUAL(made, N);
  int on_r = 0;
#pragma xmp task on r[0]
  on_r = 1;
  EXPECT_EQUAL(on_r, own_number() == 0);
  return say_ok();
}
