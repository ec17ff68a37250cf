/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:26: 't'
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp nodes q[2] = t[0:2]
int main(void) {
  return 0;
}
