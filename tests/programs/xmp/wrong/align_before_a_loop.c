/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:13: 'align' cannot stand between 'loop' and its statement
#pragma xmp nodes p[*]
int main(void) {
  int i, n = 3, local[n];
#pragma xmp template t[n]
#pragma xmp distribute t[block] onto p
#pragma xmp loop on t[i]
#pragma xmp align local[i] with t[i]
  for (i = 0; i < n; i++) local[i] = i;
  return local[0];
}
