/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:36: those of the loop over 'j' may change
#pragma xmp nodes p[2][2]
#pragma xmp template t[8][8]
#pragma xmp distribute t[block][block] onto p
double a[8][8];
#pragma xmp align a[i][j] with t[i][j]
int main(void) {
#pragma xmp loop (i, j) on t[i][j] margin(1, 1)
  for (int i = 0; i < 8; i++)
    for (int j = i; j < 8; j++) a[i][j] = 0;
}
