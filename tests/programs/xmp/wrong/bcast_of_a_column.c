/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:24: only be [:]
#pragma xmp nodes p[4]
int main(void) {
  int x[4][8] = {{0}};
#pragma xmp bcast(x[:][2])
  return x[0][0];
}
