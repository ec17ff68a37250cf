/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 10:13: 'gmove' cannot stand between 'gmove' and its statement
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
double a[8], b[8];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp gmove
#pragma xmp gmove
  a[:] = b[:];
}
