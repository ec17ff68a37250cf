/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:12: the right side of a 'gmove in' is a distributed array
#pragma xmp nodes p[4]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
double a[8];
#pragma xmp align a[i] with t[i]
int main(void) {
  double b[8];
#pragma xmp gmove in
  a[0:4] = b[0:4];
  return 0;
}
