/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:3: xmp: this section needs its length, because the array is a pointer
#pragma xmp nodes p[*]
void f(int u[8]) {
#pragma xmp array on p[:]
  u[:] = 1;
}
