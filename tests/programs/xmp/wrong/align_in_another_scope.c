/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 8:19: 'a' is an array of file scope
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
int main(void) {
  extern double a[100];
#pragma xmp align a[i] with t[i]
  return 0;
}
