/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:26: gblock
#pragma xmp nodes p[4]
int m[4] = {1, 2, 3, 4};
#pragma xmp template t[10]
#pragma xmp distribute t[gblock(m)] onto p
int main(void) {
  return 0;
}
