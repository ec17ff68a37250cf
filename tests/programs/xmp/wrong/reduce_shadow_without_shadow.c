/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:27: 'a' has no shadow
#pragma xmp nodes p[2][2]
#pragma xmp template t[8][8]
#pragma xmp distribute t[block][block] onto p
double a[8][8];
#pragma xmp align a[i][j] with t[i][j]
int main(void) {
#pragma xmp reduce_shadow(a)
}
