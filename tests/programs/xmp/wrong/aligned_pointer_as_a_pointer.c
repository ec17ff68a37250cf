/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:4: local block
#pragma xmp nodes p[4]
#pragma xmp template t[10]
#pragma xmp distribute t[block] onto p
int *a;
#pragma xmp align a[i] with t[i]
int main(void) {
  *a = 1;
  return 0;
}
