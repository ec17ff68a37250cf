/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:23: its bound changes a variable
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
  int n = 100;
#pragma xmp loop on t[i]
  for (int i = 0; i < n--; i++) a[i] = 0;
  return 0;
}
