/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:21: 'b'
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
  double b[100];
  b[0] = 0;
#pragma xmp reflect(b)
  return 0;
}
