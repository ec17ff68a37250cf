/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:4: of a distributed array only behind 'gmove' or 'array'
#pragma xmp nodes p[4]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
int b[8];
#pragma xmp align b[i] with t[i]
int main(void) {
  b[0:4] = 1;
  return 0;
}
