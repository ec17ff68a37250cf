/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 8:26: this clause is for block distributions; dimension 1 of 't' is cyclic
#pragma xmp nodes p[4]
#pragma xmp template t[8]
#pragma xmp distribute t[cyclic] onto p
int main(void) {
  int sum = 0;
#pragma xmp loop on t[i] expand(1)
  for (int i = 0; i < 8; i++) sum += i;
  return sum;
}
