/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 3:13: unknown directive 'nodez'
#pragma xmp nodez p[4]
int main(void) {
  return 0;
}
