/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 5:13: coarray
#pragma xmp nodes p[4]
int x;
#pragma xmp coarray x : [*]
int main(void) {
  return 0;
}
