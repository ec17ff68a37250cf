/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:18: 'a' has 2 dimensions, not 1
int a[4][3]:[*];
int main(void) {
  int b[4][3];
  b[0:2][0]   = a[0:2]:[1];
  return b[0][0];
}
