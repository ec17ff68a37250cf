/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:49: expected ',' and widths after the number of 'peel_and_wait'
#pragma xmp nodes p[2][2]
#pragma xmp template t[8][8]
#pragma xmp distribute t[block][block] onto p
double a[8][8];
#pragma xmp align a[i][j] with t[i][j]
int main(void) {
#pragma xmp loop (i) on t[i][*] peel_and_wait(10)
  for (int i = 0; i < 8; i++) a[i][0] = 0;
}
