/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:13: gmove
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
  double b[100];
  b[0] = 1;
#pragma xmp gmove
  b[0] = a[50];
  return 0;
}
