/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:36: this clause has 1 widths; it needs one for each of the 2 subscripts
#pragma xmp nodes p[2][2]
#pragma xmp template t[8][8]
#pragma xmp distribute t[block][block] onto p
double a[8][8];
#pragma xmp align a[i][j] with t[i][j]
int main(void) {
#pragma xmp loop (i, j) on t[i][j] expand(1)
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) a[i][j] = 0;
}
