/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:16: its first value must be an integer
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
  double n = 10.5;
#pragma xmp loop on t[i]
  for (int i = n; i < 20; i++) a[i] = 0;
  return 0;
}
