/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:4: this section has too few subscripts: write one for each dimension
int a[4][3]:[*];
int main(void) {
  int b[4][3];
  b[0:2] = a[0:2][0]:[1];
  return 0;
}
