/* SPDX-License-Identifier: BSD-3-Clause */
/* plain_ending.c - the acts of ending.h in a program without MPI. */
#include <stdio.h>

#include "ending.h"

int main(int argc, char** argv) {
  const int code = act(argc, argv);
  if (code < 0) fprintf(stderr, "plain_ending: unknown act\n");
  fflush(stdout);
  return code < 0 ? 97 : code;
}
