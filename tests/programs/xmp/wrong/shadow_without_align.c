/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 7:20: 'a'
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp shadow a[1]
int main(void) {
  return 0;
}
