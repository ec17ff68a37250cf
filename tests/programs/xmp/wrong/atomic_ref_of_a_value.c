/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:18: the first argument of 'xmp_atomic_ref' must be the address of an integer
void xmp_atomic_ref(int *value, int atom);
int scalar:[*];
int main(void) {
  xmp_atomic_ref(scalar, scalar:[0]);
}
