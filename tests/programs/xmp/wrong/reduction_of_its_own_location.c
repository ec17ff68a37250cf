/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:38: 'm' stands twice in the reductions
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p

int main(void) {
  int m = 1;
#pragma xmp reduction(firstmax : m / m /)
  return m;
}
