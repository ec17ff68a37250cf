/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 4:19: 'p'
#pragma xmp nodes p[4]
#pragma xmp nodes p[2]
int main(void) {
  return 0;
}
