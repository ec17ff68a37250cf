/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:12: a 'gmove' does not convert: the left side has elements of type 'float', the right one of 'double'
#pragma xmp nodes p[4]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
double a[8];
#pragma xmp align a[i] with t[i]
int main(void) {
  float b[8];
#pragma xmp gmove
  b[0:4] = a[0:4];
  return 0;
}
