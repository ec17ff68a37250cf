/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 5:37: the atom of 'xmp_atomic_define' must be an integer variable
#include <xmp.h>
int x:[*];
int main(void) {  xmp_atomic_define(3, 4); return x; }
