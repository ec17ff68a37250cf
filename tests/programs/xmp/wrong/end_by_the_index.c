/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 10:23: this loop cannot be distributed: its end and its step are computed before it, without the index
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
long a[8];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < 8 - i; i++) a[i] = i;
}
