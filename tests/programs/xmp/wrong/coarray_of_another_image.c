/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:4: coarrays are not supported yet
#pragma xmp nodes p[4]
int x;
int main(void) {
  x:[xmpc_this_image() + 1] = 3;
  return x;
}
