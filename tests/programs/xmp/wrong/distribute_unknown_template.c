/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 4:24: 't'
#pragma xmp nodes p[4]
#pragma xmp distribute t[block] onto p
int main(void) {
  return 0;
}
