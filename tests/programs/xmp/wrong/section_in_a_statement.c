/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:4: an array section stands only in the statement of a 'gmove' or 'array' directive
#pragma xmp nodes p[4]
int main(void) {
  int b[8];
  b[0:4] = 1;
  return b[0];
}
