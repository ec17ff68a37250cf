/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 7:27: not the distribution
#pragma xmp nodes p[4]
#pragma xmp template t[:]
#pragma xmp distribute t[cyclic(2)] onto p
int main(void) {
#pragma xmp template_fix [cyclic] t[10]
  return 0;
}
