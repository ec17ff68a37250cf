/* SPDX-License-Identifier: BSD-3-Clause */
/* lost_boxes.c - node 0 gives its last row to node 1 on another host, twice. Before the second time
 * one of them forgets the memory that the other needs: the request is accepted, and refused later.
 *
 *   lost_boxes box       node 1's, where the row arrives
 *   lost_boxes receipt   node 0's, where node 1 says that it has taken the row */
#include <string.h>
#include <xmp/xmp.h>

#include "../expect.h"
#include "nagaya/comm.h"
#include "nagaya/xmp_translated.h"

static nagaya_xmp_array u;

/* Shadow on one side only: node 0 waits for nobody in its reflects. */
static void declare_array(void) {
  const long any = -1, low = 0, high = 7, extent = 8;
  const nagaya_xmp_distribution block = {.kind = NAGAYA_XMP_BLOCK};
  const nagaya_xmp_alignment alignment = {0, 0, 1, 0};
  nagaya_xmp_nodes* const p = nagaya_xmp_declare_nodes("", "p", 1, 1, &any, NULL, 0);
  nagaya_xmp_template* const t = nagaya_xmp_declare_template("", "t", 1, &low, &high);
  nagaya_xmp_distribute("", t, p, &block);
  nagaya_xmp_declare_array("", &u, "u", sizeof(double), 1, &extent, t, &alignment);
}

static uint32_t next_region(void) {
  static char memory[64];
  nagaya_remote place;
  EXPECT_EQUAL(nagaya_llcl_register(memory, sizeof memory, &place), 0);
  EXPECT_EQUAL(nagaya_llcl_deregister(&place), 0);
  return place.region;
}

int main(int argc, char** argv) {
  nagaya_xmp_begin();
  const int is_of_receipts = argc > 1 && strcmp(argv[1], "receipt") == 0;
  declare_array();
  const uint32_t first = next_region();
  nagaya_xmp_reflect("", &u, NULL, 0, NULL);
  nagaya_remote place = {0};
  nagaya_comm_process(nagaya_comm_rank(), &place.process);
  const uint32_t end = next_region(); /* numbers grow from one registration to the next */
  if (nagaya_comm_rank() == (is_of_receipts ? 0 : 1))
    for (place.region = first; place.region != end; ++place.region) nagaya_llcl_deregister(&place);
  nagaya_xmp_barrier("", NULL);
  nagaya_xmp_reflect("", &u, NULL, 0, NULL);
  return 0;
}
