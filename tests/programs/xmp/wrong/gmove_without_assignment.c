/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 5:13: expected an assignment after 'gmove'
int main(void) {
  int b[8] = {0};
#pragma xmp gmove
  b[0]++;
  return 0;
}
