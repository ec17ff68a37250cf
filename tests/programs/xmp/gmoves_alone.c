/* SPDX-License-Identifier: BSD-3-Clause */
/* gmoves_alone.c - gmove in and gmove out by nodes of one host without those of the other side;
 * barriers order them with other accesses. */
#include "check.h"

#define N 30

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
static int line[N], back[N];
#pragma xmp align line[i] with t[i]
#pragma xmp align back[i] with t[i]
#pragma xmp shadow line[1]

static void by_the_last_ones(int half) {
#pragma xmp nodes q[half] = p[xmp_all_num_nodes() - half:half]
#pragma xmp template u[N]
#pragma xmp distribute u[block] onto q
  int part[N];
#pragma xmp align part[i] with u[i]
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    line[i] = 5 * i;
    back[i] = -1;
  }
#pragma xmp barrier
#pragma xmp task on q
  {
    int whole[N], one = 77;
#pragma xmp gmove in
    part[:] = line[N - 1 : N : -1];
#pragma xmp gmove in
    whole[0:N] = line[:];
#pragma xmp loop on u[i]
    for (int i = 0; i < N; i++) EXPECT_EQUAL(part[i], 5 * (N - 1 - i));
    for (int i = 0; i < N; i++) EXPECT_EQUAL(whole[i], 5 * i);
#pragma xmp gmove out
    back[1 : N - 1] = part[0 : N - 1];
#pragma xmp gmove out
    back[0] = one;
  }
#pragma xmp barrier
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) EXPECT_EQUAL(back[i], i == 0 ? 77 : 5 * (N - i));
}

int main(void) {
  by_the_last_ones((xmp_all_num_nodes() + 1) / 2);
  return say_ok();
}
