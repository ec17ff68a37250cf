/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 5:32: 'x' is not a coarray; declare it at file scope: name:[*]
#pragma xmp nodes p[4]
int x;
int main(void) { return 1 + 2*x:[1]; }
