/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 5:45: dimension
#pragma xmp nodes p[4]
#pragma xmp template t[10][10]
#pragma xmp distribute t[block][block] onto p
int main(void) {
  return 0;
}
