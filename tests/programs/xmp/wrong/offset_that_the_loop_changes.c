/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:42: is computed before
#pragma xmp nodes p[2]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
int main(void) {
  int sum = 0, k = 0;
#pragma xmp loop on t[i + k]
  for (int i = 0; i < 50; i++) sum += i, k++;
  return sum;
}
