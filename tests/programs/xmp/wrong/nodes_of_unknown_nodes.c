/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 3:26: 'q'
#pragma xmp nodes p[2] = q[0:2]
int main(void) {
  return 0;
}
