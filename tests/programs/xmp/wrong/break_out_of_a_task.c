/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:5: break
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
  for (int n = 0; n < 3; n++) {
#pragma xmp task on p[0]
    break;
  }
  return 0;
}
