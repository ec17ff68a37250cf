/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:29: distribut
#pragma xmp nodes p[4]
#pragma xmp template t[100]
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
  return 0;
}
