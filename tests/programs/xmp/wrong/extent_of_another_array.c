/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:19: cannot use a distributed array
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
  int n = 3;
  double b[n * sizeof a / sizeof a[0]];
#pragma xmp align b[i] with t[i]
  return 0;
}
