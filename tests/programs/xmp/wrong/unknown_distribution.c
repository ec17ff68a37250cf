/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 5:26: 'blok'
#pragma xmp nodes p[4]
#pragma xmp template t[10]
#pragma xmp distribute t[blok] onto p
int main(void) {
  return 0;
}
