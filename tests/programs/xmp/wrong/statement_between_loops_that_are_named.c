/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 12:29: the outer one on t(*, i), the inner one on t(j, *)
#pragma xmp nodes p(2, 2)
#pragma xmp template t(8, 8)
#pragma xmp distribute t(block, block) onto p
double a[8][8];
#pragma xmp align a[i][j] with t(j + 1, i + 1)

int main(void) {
  int n = 0, i, j;
// i and j are known where the directive stands
#pragma xmp loop(i, j) on t(j, i)
  for (i = 1; i <= 8; i++) {
    n++;
    for (j = 1; j <= 8; j++) a[i - 1][j - 1] = n;
  }
  return 0;
}
