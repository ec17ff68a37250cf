/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 10:3: 'goto' jumps into the distributed loop
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
  int i = 10;
  goto inside;
#pragma xmp loop on t[i]
  for (i = 0; i < 100; i++) {
  inside:
    a[i] = 0;
  }
  return 0;
}
