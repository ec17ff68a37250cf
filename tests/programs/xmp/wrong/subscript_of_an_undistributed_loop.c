/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:29: name it before the on clause
#pragma xmp nodes p[2][2]
#pragma xmp template t[100][100]
#pragma xmp distribute t[block][block] onto p
int a[100][100];
#pragma xmp align a[i][j] with t[i][j]
int main(void) {
  int i, j = 0;
  j++;
#pragma xmp loop(i) on t[i][j]
  for (i = 0; i < 100; i++)
    for (j = 0; j < 100; j++) a[i][j] = 1;
  return 0;
}
