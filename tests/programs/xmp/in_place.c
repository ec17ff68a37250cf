/* SPDX-License-Identifier: BSD-3-Clause */
/* in_place.c - elements of other nodes of the same machine, read and written where they are. With
 * an argument some nodes are on other machines: these elements have no address here. */
#include "check.h"

#define N 32
#define M 3

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
static int table[N][M];
#pragma xmp align table[i][*] with t[i]
#pragma xmp shadow table[1][0]

int main(int argc, char** argv) {
  (void)argv;
  const int is_alone = argc == 1;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) table[i][j] = 10 * i + j;
#pragma xmp barrier
  int found = 0;
  for (long i = 0; i < N; i++) {
    const int* const row = nagaya_xmp_element(xmp_desc_of(table), (long[]){i, 0});
    if (row == NULL) continue;
    found++;
    for (int j = 0; j < M; j++) EXPECT_EQUAL(row[j], 10 * i + j);
  }
  EXPECT(is_alone ? found == N : found > 0 && found < N);
  EXPECT(nagaya_xmp_element(xmp_desc_of(table), (long[]){N, 0}) == NULL);
  EXPECT(nagaya_xmp_element(xmp_desc_of(table), (long[]){0, -1}) == NULL);
#pragma xmp barrier
  /* The first node changes every row that it can reach; the owners see it. */
#pragma xmp task on p[0] nocomm
  for (long i = 0; i < N; i++) {
    int* const last = nagaya_xmp_element(xmp_desc_of(table), (long[]){i, M - 1});
    if (last != NULL) *last = -1;
  }
#pragma xmp barrier
  int changed = 0;
#pragma xmp loop on t[i] reduction(+ : changed)
  for (int i = 0; i < N; i++) changed += table[i][M - 1] == -1;
  EXPECT(is_alone ? changed == N : changed > 0 && changed < N);
  return say_ok();
}
