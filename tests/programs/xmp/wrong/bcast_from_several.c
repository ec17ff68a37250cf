/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 10:29: one node
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
  int n = 0;
#pragma xmp bcast(n) from p[0:2]
  return n;
}
