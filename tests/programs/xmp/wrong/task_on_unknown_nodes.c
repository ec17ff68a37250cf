/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:21: 'q'
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp task on q[0]
  { }
  return 0;
}
