/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:35: 'from' is not known where the array 'a' of the file is made
#pragma xmp nodes p[4]
#pragma xmp template t[200]
#pragma xmp distribute t[block] onto p
double a[100];
int main(void) {
  const int from = 7;
#pragma xmp align a[i] with t[i + from]
  return 0;
}
