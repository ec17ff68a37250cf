/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:18: 'x' is not a lock
#include <xmp.h>
int x:[*];
int main(void) {
#pragma xmp lock(x:[0])
  return 0;
}
