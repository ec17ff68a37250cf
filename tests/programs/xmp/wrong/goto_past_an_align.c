/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 8:3: this jump skips the directive of line 10
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p

int main(void) {
  goto skip;
  static int a[8];
#pragma xmp align a[i] with t[i]
skip:
  a[0] = 1;
  return 0;
}
