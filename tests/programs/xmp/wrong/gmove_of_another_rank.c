/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:14: the sides of the 'gmove' do not conform: the left one has 1 dimension with a section, the right one 2
#pragma xmp nodes p[4]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
double a[8][8];
#pragma xmp align a[i][*] with t[i]
int main(void) {
  double b[8];
#pragma xmp gmove
  b[0:4] =   a[0:4][0:1];
  return 0;
}
