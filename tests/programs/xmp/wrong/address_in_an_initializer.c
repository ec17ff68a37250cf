/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 8:18: 'a'
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
double* first = &a[0];
int main(void) {
  return 0;
}
