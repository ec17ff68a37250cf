/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 10:13: the directive 'gmove' is not supported yet
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
  double b[100];
#pragma xmp gmove
  b[0:50] = a[50:50];
  return 0;
}
