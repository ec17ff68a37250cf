/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:59: 's' stands twice in the reductions
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p

int main(void) {
  long s = 1;
#pragma xmp loop on t[i] reduction(+ : s) reduction(max : s)
  for (int i = 0; i < 8; i++) s += i;
  return (int)s;
}
