/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:3: "this section needs its length, because the array is a pointer"
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
void f(int u[8]) {
#pragma xmp align u[i] with t[i]
#pragma xmp array on t[:]
  u[:] = 1;
}
