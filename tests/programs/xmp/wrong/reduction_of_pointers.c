/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:27: which has no reduction
#pragma xmp nodes p[4]
int main(void) {
  double* rows[4] = {0};
#pragma xmp reduction(+ : rows)
  return rows[0] != 0;
}
