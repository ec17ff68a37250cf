/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace.c - Jacobi steps of a five-point stencil, as xmpcc would translate them, held against a
 * field that each process computes by itself.
 *
 *   #pragma xmp nodes p[*]
 *   #pragma xmp template t[ROWS]
 *   #pragma xmp distribute t[block] onto p
 *   double u[ROWS][COLUMNS], uu[ROWS][COLUMNS];
 *   #pragma xmp align [i][*] with t[i] :: u, uu
 *   #pragma xmp shadow uu[1][0] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmp/xmp.h>

#include "../expect.h"
#include "nagaya/array.h"
#include "nagaya/xmp_translated.h"

enum { ROWS = 103, COLUMNS = 67, STEPS = 50 };

static nagaya_xmp_nodes* p;
static nagaya_xmp_template* t;
static nagaya_xmp_array u, uu;

static void declare(void) {
  const long any = -1, low = 0, high = ROWS - 1;
  const long extent[] = {ROWS, COLUMNS};
  const nagaya_xmp_distribution block = {.kind = NAGAYA_XMP_BLOCK};
  const nagaya_xmp_alignment plain[] = {{0, 0, 0, 0}, {-1, 0, 0, 0}};
  const nagaya_xmp_alignment shadowed[] = {{0, 0, 1, 1}, {-1, 0, 0, 0}};
  p = nagaya_xmp_declare_nodes("laplace.c:6:9", "p", 1, 1, &any, NULL, 0);
  t = nagaya_xmp_declare_template("laplace.c:7:9", "t", 1, &low, &high);
  nagaya_xmp_distribute("laplace.c:8:9", t, p, &block);
  nagaya_xmp_declare_array("laplace.c:9:9", &u, "u", sizeof(double), 2, extent, t, plain);
  nagaya_xmp_declare_array("laplace.c:9:9", &uu, "uu", sizeof(double), 2, extent, t, shadowed);
}

static __attribute__((constructor)) void unit(void) {
  nagaya_xmp_unit(declare);
}

static double start_value(long i, long j) {
  return sin((double)i / ROWS * 3.0) + cos((double)j / COLUMNS * 5.0);
}

/* All rows, by this process alone. */
static void serial(double field[ROWS][COLUMNS], double* change) {
  static double old[ROWS][COLUMNS];
  for (int step = 0; step < STEPS; ++step) {
    memcpy(old, field, sizeof old);
    *change = 0;
    for (long i = 1; i < ROWS - 1; ++i)
      for (long j = 1; j < COLUMNS - 1; ++j) {
        field[i][j] = (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1]) / 4.0;
        *change = fmax(*change, fabs(field[i][j] - old[i][j]));
      }
  }
}

static void fill(double (*rows)[COLUMNS], nagaya_xmp_on* on) {
  const nagaya_xmp_range all = nagaya_xmp_loop("laplace.c:10:9", on, 0, 0, 0, ROWS, 1);
  for (long i = all.first; i < all.end; ++i)
    for (long j = 0; j < COLUMNS; ++j) rows[i - u.first[0]][j] = start_value(i, j);
}

static double step(double (*rows)[COLUMNS], double (*old)[COLUMNS], nagaya_xmp_on* on) {
  double change = 0;
  const nagaya_xmp_range all = nagaya_xmp_loop("laplace.c:20:9", on, 0, 0, 0, ROWS, 1);
  for (long i = all.first; i < all.end; ++i)
    memcpy(old[i - uu.first[0]], rows[i - u.first[0]], sizeof *rows);
  nagaya_xmp_reflect("laplace.c:25:9", &uu, NULL, 0, NULL);
  const nagaya_xmp_range inner = nagaya_xmp_loop("laplace.c:26:9", on, 0, 0, 1, ROWS - 1, 1);
  for (long i = inner.first; i < inner.end; ++i) {
    double* const to = rows[i - u.first[0]];
    double(*const from)[COLUMNS] = &old[i - uu.first[0]];
    for (long j = 1; j < COLUMNS - 1; ++j) {
      to[j] = (from[-1][j] + from[1][j] + from[0][j - 1] + from[0][j + 1]) / 4.0;
      change = fmax(change, fabs(to[j] - from[0][j]));
    }
  }
  nagaya_xmp_reduce("laplace.c:30:9", NAGAYA_XMP_MAX, NAGAYA_XMP_DOUBLE, &change, 1, NULL, NULL,
                    NULL);
  return change;
}

int main(void) {
  nagaya_xmp_begin();
  static double wanted[ROWS][COLUMNS];
  double wanted_change = 0, change = 0;
  for (long i = 0; i < ROWS; ++i)
    for (long j = 0; j < COLUMNS; ++j) wanted[i][j] = start_value(i, j);
  serial(wanted, &wanted_change);

  double(*const rows)[COLUMNS] = (void*)u.base;
  double(*const old)[COLUMNS] = (void*)uu.base;
  nagaya_xmp_on on = {.of_template = t, .dimensions = 1, .subscript = {{NAGAYA_XMP_ALL, 0, 0, 1}}};
  fill(rows, &on);
  for (int n = 0; n < STEPS; ++n) change = step(rows, old, &on);
  EXPECT(change == wanted_change);
  const nagaya_xmp_range all = nagaya_xmp_loop("laplace.c:40:9", &on, 0, 0, 0, ROWS, 1);
  EXPECT(memcmp(rows[all.first - u.first[0]], wanted[all.first],
                (size_t)(all.end - all.first) * sizeof *rows) == 0 ||
         all.end == all.first);
  const nagaya_array_statistics moved = nagaya_array_statistics_of_process();
  unsigned long sent[] = {moved.messages, moved.local_messages};
  nagaya_xmp_reduce("laplace.c:45:9", NAGAYA_XMP_SUM, NAGAYA_XMP_UNSIGNED_LONG, sent, 2, NULL, NULL,
                    NULL);
  nagaya_xmp_barrier("laplace.c:46:9", NULL);
  if (xmp_node_num() == 1)
    printf("%d steps among %d, %lu messages, %lu in a node\n", STEPS, xmp_num_nodes(), sent[0],
           sent[1]);
  return 0;
}
