/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 3:12: directive
#pragma xmp
int main(void) {
  return 0;
}
