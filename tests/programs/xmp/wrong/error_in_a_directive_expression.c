/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 3:21: 'missing'
#pragma xmp nodes p[missing]
int main(void) {
  return 0;
}
