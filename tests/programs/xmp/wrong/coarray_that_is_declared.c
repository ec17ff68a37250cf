/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 5:10: coarrays are not supported yet
#include <xmp.h>
#pragma xmp nodes p[4]
int x[10]:[*], y:[*];
int main(void) {
  y = x[2];
  return x[0]:[1] + undeclared_by_mistake;
}
