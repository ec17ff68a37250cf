/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h - shared by the test programs of XcalableMP. Each checks itself on any number
 * of nodes: a wrong one ends the job; the first node says "ok". */
#ifndef NAGAYA_TESTS_XMP_CHECK_H
#define NAGAYA_TESTS_XMP_CHECK_H

#include <xmp.h>

#include "../expect.h"

/* The caller's number among all, from 0. */
static inline int own_number(void) {
  return xmp_all_node_num() - 1;
}

/* The last statement of main(). */
static inline int say_ok(void) {
  if (own_number() == 0) puts("ok");
  return 0;
}

#endif
