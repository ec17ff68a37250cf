/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:26: this loop is not tightly nested in the one behind the directive; give each a directive of its own, the outer one on t[i][*], the inner one on t[*][j]
#pragma xmp nodes p[2][2]
#pragma xmp template t[8][8]
#pragma xmp distribute t[block][block] onto p
double a[8][8];
#pragma xmp align a[i][j] with t[i][j]

int main(void) {
  int n = 0;
#pragma xmp loop on t[i][j]
  for (int i = 0; i < 8; i++) {
    n++;
    for (int j = 0; j < 8; j++) a[i][j] = n;
  }
  return 0;
}
