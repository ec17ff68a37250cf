/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:6: array sections in statements are not supported yet; write a loop
#pragma xmp nodes p[4]
double b[10], c[10];
int main(void) {
  b[0:5] = c[5:5];
  b[:] = 0;
  return 0;
}
