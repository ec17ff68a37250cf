/* SPDX-License-Identifier: BSD-3-Clause */
/* gmoves_alone.c - gmove in and gmove out by nodes of one host without those of the other side;
 * barriers order them with other accesses. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

#define N 30
#define LARGE (1 << 17) /* elements of a block: its memory is unmapped when it is freed */
#define LATE_US 20000

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

/* The other nodes have left the array's block, or main(), when the first one reads and writes. */
static int late(int n, int is_at_the_end) {
#pragma xmp template u[n]
#pragma xmp distribute u[block] onto p
  int large[n];
#pragma xmp align large[i] with u[i]
#pragma xmp loop on u[i]
  for (int i = 0; i < n; i++) large[i] = i;
#pragma xmp barrier
  if (own_number() != 0 && is_at_the_end) exit(0);
#pragma xmp task on p[0]
  {
    int last[LARGE];
    usleep(LATE_US);
#pragma xmp gmove in
    last[:] = large[n - LARGE:LARGE];
    EXPECT_EQUAL(last[LARGE - 1], n - 1);
#pragma xmp gmove out
    large[n - LARGE:LARGE] = last[:];
  }
  return 0;
}

int main(void) {
  by_the_last_ones((xmp_all_num_nodes() + 1) / 2);
  late(LARGE * xmp_all_num_nodes(), 0);
  late(LARGE * xmp_all_num_nodes(), 1);
  return say_ok();
}
