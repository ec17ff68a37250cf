/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 8:21: 'a' is distributed
#pragma xmp nodes p[4]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
double a[8];
#pragma xmp align a[i] with t[i]
#pragma xmp coarray a:[*]
int main(void) { return 0; }
