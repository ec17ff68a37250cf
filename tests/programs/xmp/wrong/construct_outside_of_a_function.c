/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:13: function
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1]
#pragma xmp reflect(a)
int main(void) {
  return 0;
}
