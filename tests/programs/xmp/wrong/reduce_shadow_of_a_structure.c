/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 12:27: 'a' has elements of the type 'struct point', which has no sum
#pragma xmp nodes p[2][2]
#pragma xmp template t[8][8]
#pragma xmp distribute t[block][block] onto p
struct point {
  int x, y;
} a[8][8];
#pragma xmp align a[i][j] with t[i][j]
#pragma xmp shadow a[1][1]
int main(void) {
#pragma xmp reduce_shadow(a)
}
