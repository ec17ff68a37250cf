/* SPDX-License-Identifier: BSD-3-Clause */
/* solve.c - a system of linear equations by ScaLAPACK's pdgesv, on as square a grid of processes as
 * there is. Knows nothing of Nagaya.
 *
 * Rank 0 prints "pdgesv VALUE" [ms] and "check SUM", the sum of the solution: as many as there are
 * unknowns, because each of them is 1. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "turns.h"

void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
int numroc_(const int* n, const int* block, const int* own, const int* first, const int* count);
void descinit_(int* descriptor, const int* rows, const int* columns, const int* row_block,
               const int* column_block, const int* first_row, const int* first_column,
               const int* context, const int* leading, int* info);
void pdgesv_(const int* n, const int* sides, double* a, const int* ia, const int* ja,
             const int* desca, int* pivots, double* b, const int* ib, const int* jb,
             const int* descb, int* info);

enum { kUnknowns = 600, kBlock = 32, kTolerableErrors = 1000000 };

static int context, rows, columns, row, column; /* of the grid; row and column are this process's */

/* Returns the index in the whole matrix of local index `local` of process `own` of `count`. */
static int global_index(int local, int own, int count) {
  return (local / kBlock * count + own) * kBlock + local % kBlock;
}

/* Returns an element of the matrix. The large ones do not lie on the diagonal, so that rows must be
 * exchanged for pivots. */
static double element(int i, int j) {
  return (double)((i * 7 + j * 13) % 101) / 101 + ((i + j) % kUnknowns == 1 ? kUnknowns : 0);
}

static double solution; /* sum of the parts of this process, over all turns */

static void fail(const char* why) {
  fprintf(stderr, "solve: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double solve(int turn) {
  const int n = kUnknowns, block = kBlock, zero = 0, one = 1;
  const int own_rows = numroc_(&n, &block, &row, &zero, &rows);
  const int own_columns = numroc_(&n, &block, &column, &zero, &columns);
  const int leading = own_rows > 0 ? own_rows : 1;
  int desc_a[9], desc_b[9], info;
  descinit_(desc_a, &n, &n, &block, &block, &zero, &zero, &context, &leading, &info);
  descinit_(desc_b, &n, &one, &block, &block, &zero, &zero, &context, &leading, &info);
  double* const a = calloc((size_t)leading * (size_t)(own_columns + 1), sizeof *a);
  double* const b = calloc((size_t)leading, sizeof *b);
  int* const pivots = calloc((size_t)(own_rows + kBlock), sizeof *pivots);
  for (int i = 0; i < own_rows; ++i) {
    const int gi = global_index(i, row, rows);
    for (int j = 0; j < own_columns; ++j)
      a[(size_t)j * (size_t)leading + (size_t)i] = element(gi, global_index(j, column, columns));
    for (int gj = 0; gj < n; ++gj) b[i] += element(gi, gj);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  pdgesv_(&n, &one, a, &one, &one, desc_a, pivots, b, &one, &one, desc_b, &info);
  const double time = MPI_Wtime() - start;
  if (info != 0) fail("pdgesv failed");
  for (int i = 0; column == 0 && i < own_rows; ++i) {
    if (fabs(b[i] - 1) * kTolerableErrors > 1) fail("the solution is wrong");
    if (turn == 0) solution += b[i];
  }
  free(a);
  free(b);
  free(pivots);
  return time;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int count;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  rows = (int)sqrt((double)count);
  while (count % rows != 0) --rows;
  Cblacs_get(0, 0, &context);
  Cblacs_gridinit(&context, "Row", rows, count / rows);
  Cblacs_gridinfo(context, &rows, &columns, &row, &column);
  print_median("pdgesv", solve);
  print_sum("check", solution);
  Cblacs_gridexit(context);
  MPI_Finalize();
  return 0;
}
