/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 3:19: 7
#pragma xmp nodes p[1][1][1][1][1][1][1][1]
int main(void) {
  return 0;
}
