/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 8:22: block or gblock
#pragma xmp nodes p[4]
#pragma xmp template t[10]
#pragma xmp distribute t[cyclic] onto p
int a[10];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1]
int main(void) {
  return 0;
}
