/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:22: expected ',' and the tag in 'post'
#include <xmp.h>
#pragma xmp nodes p[4]
int main(void) {
#pragma xmp post(p[0])
  return 0;
}
