/* SPDX-License-Identifier: BSD-3-Clause */
/* overlap.c - a reflect that was started moves while its process waits for something else: node 0
 * waits in a barrier, which the others reach behind the reflect. */
#include <stdio.h>
#include <unistd.h>
#include <xmp/xmp.h>

#include "../expect.h"
#include "nagaya/xmp_translated.h"

enum { COLUMNS = 3, STEPS = 5, LATE_US = 20000, LIMIT_S = 20 };

static nagaya_xmp_array u;

/* A row of each node, and one of each neighbour. Two dimensions have a step of the reflect each. */
static void declare_array(long nodes) {
  const long any = -1, low = 0, high = nodes - 1, extent[] = {nodes, COLUMNS};
  const nagaya_xmp_distribution block = {.kind = NAGAYA_XMP_BLOCK};
  const nagaya_xmp_alignment alignment[] = {{0, 0, 1, 1}, {-1, 0, 1, 1}};
  nagaya_xmp_nodes* const p = nagaya_xmp_declare_nodes("", "p", 1, 1, &any, NULL, 0);
  nagaya_xmp_template* const t = nagaya_xmp_declare_template("", "t", 1, &low, &high);
  nagaya_xmp_distribute("", t, p, &block);
  nagaya_xmp_declare_array("", &u, "u", sizeof(long), 2, extent, t, alignment);
}

int main(void) {
  nagaya_xmp_begin();
  alarm(LIMIT_S);
  const int own = xmp_all_node_num() - 1, nodes = xmp_all_num_nodes();
  declare_array(nodes);
  long(*const rows)[COLUMNS + 2] = (void*)u.base;
  const nagaya_xmp_width periodic[] = {{1, 1, 1}, {1, 1, 1}};
  const long number = 1;
  for (int step = 0; step < STEPS; ++step) {
    for (int j = 1; j <= COLUMNS; ++j) rows[1][j] = 100 * step + 10 * own + j;
    if (own != 0) usleep(LATE_US);
    nagaya_xmp_reflect("", &u, periodic, 0, &number);
    if (own == 0) nagaya_xmp_barrier("", NULL);
    nagaya_xmp_wait_async("", 1, &number, NULL);
    if (own != 0) nagaya_xmp_barrier("", NULL);
    EXPECT_EQUAL(rows[0][0], 100 * step + 10 * ((own + nodes - 1) % nodes) + COLUMNS);
    EXPECT_EQUAL(rows[2][COLUMNS + 1], 100 * step + 10 * ((own + 1) % nodes) + 1);
    nagaya_xmp_barrier("", NULL);
  }
  if (own == 0) printf("%d steps among %d\n", STEPS, nodes);
  return 0;
}
