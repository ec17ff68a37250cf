/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:18: an array section stands alone on a side of an assignment
#pragma xmp nodes p[4]
int a[8][8], b[8][8];
int main(void) {
  xmp_transpose(b[:][0], a, 0);
  return 0;
}
