/* SPDX-License-Identifier: BSD-3-Clause */
/* lent_accumulates.c - rank 0 accumulates into the memory of rank 1, without end, so much at once
 * that the other node's host reads the operands. */
#include <nagaya/comm.h>

#include "expect.h"

enum { kElements = 1 << 17 };

static double elements[kElements];

int main(void) {
  EXPECT_EQUAL(nagaya_comm_init(), 0);
  EXPECT_EQUAL(nagaya_comm_size(), 2);
  nagaya_remote own, all[2];
  EXPECT_EQUAL(nagaya_llcl_register(elements, sizeof elements, &own), 0);
  EXPECT_EQUAL(nagaya_comm_allgather(&own, sizeof own, all), 0);
  while (nagaya_comm_rank() == 0) {
    uint32_t done = 0;
    const nagaya_llcl_remote_accumulation sum = {all[1],
                                                 {.type = NAGAYA_ELEMENT_DOUBLE,
                                                  .operation = NAGAYA_REDUCE_SUM,
                                                  .count = kElements,
                                                  .origin = elements},
                                                 nagaya_flag(&done)};
    EXPECT_EQUAL(nagaya_llcl_try_accumulate(&sum), 0);
    EXPECT_EQUAL(nagaya_llcl_wait_flag(&done, -1), 0);
  }
  nagaya_comm_barrier(); /* rank 0 does not come */
  return 0;
}
