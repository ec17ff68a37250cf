/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 10:30: dimension
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1]
int main(void) {
#pragma xmp reflect(a) width(1, 1)
  return 0;
}
