/* SPDX-License-Identifier: BSD-3-Clause */
/* lost_xmp.c - processes wait by XcalableMP; the program is as xmpcc writes it. */
#include <nagaya/comm.h>

#include "nagaya/xmp_translated.h"
#include "wait_for_lost.h"

int main(void) {
  nagaya_xmp_begin();
  be_ready((int)nagaya_comm_rank());
  nagaya_xmp_barrier("", NULL);
  return 0;
}
