/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 10:10: a call cannot take both
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
void* memset(void* to, int byte, unsigned long bytes);
int main(void) {
  memset(a, 0, sizeof a);
  return 0;
}
