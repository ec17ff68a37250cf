/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:13: expected an assignment to a section after 'array'
#pragma xmp nodes p[4]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
double a[8];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp array on t[:]
  a[1] = 2;
  return 0;
}
