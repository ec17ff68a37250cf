/* SPDX-License-Identifier: BSD-3-Clause */
/* reduced_shadow.c - reduce_shadow is the adjoint of reflect: the sum of reflect(x) * y over all
 * blocks and shadows is that of x * reduce_shadow(y) over all blocks. Macros give the shape and the
 * clauses. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#ifndef ROWS
#define ROWS 13
#define COLUMNS 9
#define ROW_SHADOW 2 : 1
#define COLUMN_SHADOW 1
#define CLAUSES width(/periodic/2:1, 1)
#endif
#define WIDE (xmp_all_num_nodes() % 2 == 0 ? 2 : 1)
long x[ROWS][COLUMNS], y[ROWS][COLUMNS];
#pragma xmp nodes p[xmp_all_num_nodes() / WIDE][WIDE]
#pragma xmp template t[ROWS + 3][COLUMNS]
#pragma xmp distribute t[block][block] onto p
#pragma xmp align x[i][j] with t[i + 2][j]
#pragma xmp align y[i][j] with t[i + 2][j]
#pragma xmp shadow x[ROW_SHADOW][COLUMN_SHADOW]
#pragma xmp shadow y[ROW_SHADOW][COLUMN_SHADOW]

/* Returns the array's local memory and its number of elements, shadow included. */
static long* local(xmp_desc_t array, long* count) {
  void* memory = NULL;
  *count = xmp_array_laddr(array, &memory) == 0;
  for (int d = 1; d <= 2; d++) {
    int size = 0, low = 0, high = 0;
    xmp_array_lsize(array, d, &size);
    xmp_array_lshadow(array, d, &low);
    xmp_array_ushadow(array, d, &high);
    const int extent = d == 1 ? ROWS : COLUMNS;
    const int is_full = low == extent && high == extent;
    *count *= is_full ? extent : size > 0 ? size + low + high : 0;
  }
  return memory;
}

static void test(void) {
  long count, reflected = 0, reduced = 0, changed = 0;
  long* const all_x = local(xmp_desc_of(x), &count);
  long* const all_y = local(xmp_desc_of(y), &count);
  srand(17 + (unsigned)xmp_node_num());
  for (long n = 0; n < count; n++) all_x[n] = 0, all_y[n] = rand() % 1000;
#pragma xmp loop (i, j) on t[i + 2][j]
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) x[i][j] = rand() % 1000;
  long* const before = malloc((size_t)(count + 1) * sizeof(long));
  memcpy(before, all_y, (size_t)count * sizeof(long));
#pragma xmp reflect(x) CLAUSES
  for (long n = 0; n < count; n++) reflected += all_x[n] * all_y[n];
#pragma xmp reduction(+ : reflected)
#pragma xmp reduce_shadow(y) CLAUSES async(4)
#pragma xmp wait_async(4)
#pragma xmp loop (i, j) on t[i + 2][j] reduction(+ : reduced)
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) {
      reduced += x[i][j] * y[i][j];
      before[&y[i][j] - all_y] = y[i][j];
    }
  for (long n = 0; n < count; n++) changed += before[n] != all_y[n];
  EXPECT(reflected == reduced);
  EXPECT(changed == 0);  /* the shadow stays as it is */
  free(before);
}

int main(void) {
  for (int n = 0; n < 5; n++) test();
  return say_ok();
}
