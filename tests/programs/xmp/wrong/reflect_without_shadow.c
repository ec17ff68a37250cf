/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:21: shadow
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp reflect(a)
  return 0;
}
