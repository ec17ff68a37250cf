/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 10:8: an array section is [base:length:step]; write a ',' in it in parentheses
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
double a[8], b[8];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp gmove
  a[0:4, 2] = b[0:4];
}
