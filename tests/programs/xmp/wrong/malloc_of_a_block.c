/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:35: the function 'xmp_malloc' is not supported yet
#include <xmp.h>
#pragma xmp nodes p[4]
int main(void) {
  double *const block = (double *)xmp_malloc(xmp_desc_of(p), 100);
  return block == NULL;
}
