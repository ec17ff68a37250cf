/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 3:24: '4'
#pragma xmp nodes p[4] 4
int main(void) {
  return 0;
}
