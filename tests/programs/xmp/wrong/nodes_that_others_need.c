/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 4:24: only the first dimension of nodes may be '*'
#include <stdio.h>
#pragma xmp nodes p[2][*]
#pragma xmp template t[100][100]
#pragma xmp distribute t[block][block] onto p
double a[100][100], b[100][100];
#pragma xmp align a[i][j] with t[i][j]
#pragma xmp align b[i][j] with t[i][j]
#pragma xmp shadow a[1][1]
int main(void) {
  int i, j;
  double sum = 0;
#pragma xmp loop (i, j) on t[i][j]
  for (i = 0; i < 100; i++)
    for (j = 0; j < 100; j++) a[i][j] = i + j;
#pragma xmp reflect (a)
#pragma xmp loop (i, j) on t[i][j] reduction(+:sum)
  for (i = 1; i < 99; i++)
    for (j = 1; j < 99; j++) sum += a[i][j];
#pragma xmp gmove
  b[:][:] = a[:][:];
#pragma xmp task on p[0][0]
  printf("%g\n", sum);
#pragma xmp bcast (sum)
  return 0;
}
