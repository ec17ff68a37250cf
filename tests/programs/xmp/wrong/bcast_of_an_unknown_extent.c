/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 5:19: the first extent of 'a' is not known
#pragma xmp nodes p[4]
void f(double a[]) {
#pragma xmp bcast(a)
}
