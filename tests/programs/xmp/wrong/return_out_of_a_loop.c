/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 12:19: return
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
  int s = 0;
#pragma xmp loop on t[i] reduction(+ : s)
  for (int i = 0; i < 100; i++)
    if (a[i] > 0) return s;
  return 0;
}
