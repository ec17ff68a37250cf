/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 5:32: sizes
#pragma xmp nodes p[4]
#pragma xmp template t[10]
#pragma xmp distribute t[gblock] onto p
int main(void) {
  return 0;
}
