/* SPDX-License-Identifier: BSD-3-Clause */
/* Says a few lines, for a preloaded library to count. */
#include <stdio.h>

int main(void) {
  for (int n = 0; n < 3; ++n) puts("line");
  return 0;
}
