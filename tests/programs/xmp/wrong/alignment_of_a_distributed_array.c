/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 7:19: cannot have an alignment
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
_Alignas(64) double b[100];
#pragma xmp align b[i] with t[i]
int main(void) {
  return 0;
}
