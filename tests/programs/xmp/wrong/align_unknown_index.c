/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 7:21: 'i'
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[j]
int main(void) {
  return 0;
}
