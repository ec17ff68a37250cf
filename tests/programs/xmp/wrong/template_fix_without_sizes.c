/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 7:26: sizes of the blocks
#pragma xmp nodes p[4]
#pragma xmp template t[:]
#pragma xmp distribute t[gblock(*)] onto p
int main(void) {
#pragma xmp template_fix t[10]
  return 0;
}
