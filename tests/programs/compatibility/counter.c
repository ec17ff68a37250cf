/* SPDX-License-Identifier: BSD-3-Clause */
/* A library with a variable of its own and one of each thread. */
#include <stdlib.h>
#include <string.h>

static int counter;
static __thread int of_thread = 100;
static __thread char block[200];

int counter_next(void) {
  return ++counter;
}

int counter_of_thread(void) {
  block[sizeof block - 1] = 1;
  return ++of_thread;
}

int counter_allocates(void) {
  char* blocks[32];
  for (size_t n = 0; n < 32; ++n) memset(blocks[n] = malloc(1 << n / 2), 1, (size_t)1 << n / 2);
  for (size_t n = 0; n < 32; ++n) free(blocks[n]);
  return 1;
}
