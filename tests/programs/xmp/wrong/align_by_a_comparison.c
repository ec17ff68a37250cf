/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 7:33: the subscript of 'i' must be 'i', or 'i' and an offset
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i + 1 < 2]
int main(void) {
  return 0;
}
