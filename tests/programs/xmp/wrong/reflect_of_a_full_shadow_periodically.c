/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 10:30: full shadow
#pragma xmp nodes p[2][2]
#pragma xmp template t[8][8]
#pragma xmp distribute t[block][block] onto p
double a[8][8];
#pragma xmp align a[i][j] with t[i][j]
#pragma xmp shadow a[*][1]
int main(void) {
#pragma xmp reflect(a) width(/periodic/1, 1)
}
