/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:49: 'on t[:][i]'
#pragma xmp nodes p[2][2]
#pragma xmp template t[100][100]
#pragma xmp distribute t[block][block] onto p
double w[100];
#pragma xmp align w[i] with t[i][*]
int main(void) {
#pragma xmp loop(i, j) on t[i][j] reduction(+ : w)
  for (int i = 0; i < 100; i++)
    for (int j = 0; j < 100; j++) w[i]++;
  return 0;
}
