/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 8:22: full shadow
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[*]
int main(void) {
  return 0;
}
