/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 4:6: the last codimension of 'x' must be [*]
#pragma xmp nodes p[4]
int x:[4];
int main(void) { return x; }
