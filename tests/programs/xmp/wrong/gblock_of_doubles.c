/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:33: array of int or long
double sizes[4] = {1, 2, 3, 4};
#pragma xmp nodes p[4]
#pragma xmp template t[10]
#pragma xmp distribute t[gblock(sizes)] onto p
int main(void) {
  return 0;
}
