/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:24: 't'
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp distribute t[block] onto p
int main(void) {
  return 0;
}
