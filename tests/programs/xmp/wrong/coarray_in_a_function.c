/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 5:8: a coarray is a variable at file scope
#pragma xmp nodes p[4]
int main(void) {
  int x:[*];
  return x;
}
