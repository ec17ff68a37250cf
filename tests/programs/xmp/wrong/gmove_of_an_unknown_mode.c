/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:19: unknown clause 'inside' of directive 'gmove'
#pragma xmp nodes p[4]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
double a[8], b[8];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp gmove inside
  b[0:4] = a[0:4];
  return 0;
}
