/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 5:33: array of int or long
#pragma xmp nodes p[4]
#pragma xmp template t[10]
#pragma xmp distribute t[gblock(3)] onto p
int main(void) {
  return 0;
}
