/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 3:22: expected
#pragma xmp nodes p[4)
int main(void) {
  return 0;
}
