/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 3:24: '*'
#pragma xmp nodes p[2][*]
int main(void) {
  return 0;
}
