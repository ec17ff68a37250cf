/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:19: 'on t[*][:]'
#pragma xmp nodes p[2][2]
#pragma xmp template t[100][100]
#pragma xmp distribute t[block][block] onto p
double w[100];
#pragma xmp align w[i] with t[i][*]
int main(void) {
#pragma xmp bcast(w)
  return 0;
}
