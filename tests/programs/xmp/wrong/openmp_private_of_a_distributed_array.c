/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:1: OpenMP's 'firstprivate' cannot name the distributed array 'a'
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
int a[8];
#pragma xmp align a[i] with t[i]

int main(void) {
#pragma xmp loop on t[i]
#pragma omp parallel for firstprivate(a)
  for (int i = 0; i < 8; i++) a[i] = 3;
  return 0;
}
