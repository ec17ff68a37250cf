/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:5: is computed before
#pragma xmp nodes p[2][2]
#pragma xmp template t[100][100]
#pragma xmp distribute t[block][block] onto p
int main(void) {
  int sum = 0, k = 0;
#pragma xmp loop on t[i][k]
  for (int i = 0; i < 100; i++) {
    sum++;
    k++;
  }
  return sum;
}
