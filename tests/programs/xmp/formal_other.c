/* SPDX-License-Identifier: BSD-3-Clause */
/* formal_other.c - the functions of formal.h. */
#include "formal.h"

long total, *const place_of_total = &total;

void add(double to[N][M], double from[N][M], double times) {
#pragma xmp align to[i][*] with t[i]
#pragma xmp shadow to[1][0]
#pragma xmp align from[i][*] with t[i]
#pragma xmp shadow from[1][0]
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) to[i][j] += times * from[i][j];
}

void add_to_shared(double number) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) shared[i][j] += number;
}

double sum_of_all_but_the_last_row(double of[N][M]) {
#pragma xmp align of[i][*] with t[i]
#pragma xmp shadow of[1][0]
#pragma xmp reflect(of)
  double sum = 0;
#pragma xmp loop on t[i] reduction(+ : sum)
  for (int i = 1; i < N; i++)
    for (int j = 0; j < M; j++) sum += of[i - 1][j];
  return sum;
}
