/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:3: the function 'xmp_transpose' is not supported yet
#pragma xmp nodes p[4]
int a[8][8], b[8][8];
int main(void) {
  xmp_transpose(b[:][:], a[:][:], 0);
  return 0;
}
