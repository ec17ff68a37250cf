/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 10:14: this variable has more sections than the left side of the assignment
#pragma xmp nodes p[4]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
double a[8], b[8][8];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp array on t[:]
  a[:] = b[:][:];
  return 0;
}
