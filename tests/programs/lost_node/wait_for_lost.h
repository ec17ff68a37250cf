/* SPDX-License-Identifier: BSD-3-Clause */
/* wait_for_lost.h - what these programs do: all wait in a barrier of one library for rank 1, which
 * does not come; then the test cuts its host off. */
#ifndef NAGAYA_TESTS_WAIT_FOR_LOST_H
#define NAGAYA_TESTS_WAIT_FOR_LOST_H

#include <stdio.h>
#include <unistd.h>

static inline void be_ready(int rank) {
  printf("ready\n");
  fflush(stdout);
  while (rank == 1) pause();
}

#endif
