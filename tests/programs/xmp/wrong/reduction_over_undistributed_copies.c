/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:27: no two processes have the same element
#pragma xmp nodes p[4]
#pragma xmp template t[100][100]
#pragma xmp distribute t[block][*] onto p
double w[100];
#pragma xmp align w[i] with t[i][*]
int main(void) {
#pragma xmp reduction(+ : w)
  return 0;
}
