/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:51: copy the value to a variable
#include <xmp.h>
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < xmp_array_gsize(xmp_desc_of(a), 1); i++) a[i] = 0;
  return 0;
}
