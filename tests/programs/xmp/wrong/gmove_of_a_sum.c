/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 10:13: the right side of a 'gmove' is one section, or a value without sections
#pragma xmp nodes p[4]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
double a[8], b[8];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp gmove
  b[0:4] = a[0:4] + 1;
  return 0;
}
