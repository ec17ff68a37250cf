/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:15: cannot have a coarray of another image; copy it to a variable before
#pragma xmp nodes p[4]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
int a[8];
int x:[*];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp array on t[:]
  a[:] = x + x:[1];
  return 0;
}
