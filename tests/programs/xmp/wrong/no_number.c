/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 4:21: '4tasks' is no number
int main(void) {
#pragma xmp nodes p[4tasks]
  return 0;
}
