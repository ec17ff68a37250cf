/* SPDX-License-Identifier: BSD-3-Clause */
/* lost_fmpl.c - processes wait by FMPL. */
#include <nagaya/fmpl.h>

#include "wait_for_lost.h"

static fmpl_area areas[1];
static fmpl_flag flags[1];

int main(void) {
  if (fmpl_init(areas, flags, 1) != FMPL_SUCCESS) return 2;
  be_ready(fmpl_rank(FMPL_COMM_WORLD));
  fmpl_barrier(FMPL_COMM_WORLD);
  return 0;
}
