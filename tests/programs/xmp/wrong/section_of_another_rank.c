/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 4:26: dimension
#pragma xmp nodes p[4]
#pragma xmp nodes q[2] = p[0:2][0]
int main(void) {
  return 0;
}
