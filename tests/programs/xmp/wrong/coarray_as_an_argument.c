/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 4:15: a coarray is a variable at file scope
#pragma xmp nodes p[4]
int f(int x[4]:[*]) { return x[0]; }
int main(void) { return 0; }
