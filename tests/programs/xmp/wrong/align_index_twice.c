/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 7:24: 'i'
#pragma xmp nodes p[4]
#pragma xmp template t[9][9]
#pragma xmp distribute t[block][*] onto p
double a[9][9];
#pragma xmp align a[i][i] with t[i][i]
int main(void) {
  return 0;
}
