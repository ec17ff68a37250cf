/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - the BLACS of each type of items, and of each language, as tables: C's functions take
 * numbers, Fortran's their addresses. Declared here, for ScaLAPACK has no header of them. */
#ifndef NAGAYA_TESTS_BLACS_CALLS_H
#define NAGAYA_TESTS_BLACS_CALLS_H

#include <mpi.h>
#include <stddef.h>

enum { kTypes = 5, kLanguages = 2 };

/* Arguments in the order of the BLACS; `a` points to items of the type. */
typedef void ge_move(int context, int m, int n, void* a, int lda, int row, int column);
typedef void tr_move(int context, char* part, char* diagonal, int m, int n, void* a, int lda,
                     int row, int column);
typedef void ge_broadcast(int context, char* scope, char* topology, int m, int n, void* a, int lda);
typedef void tr_broadcast(int context, char* scope, char* topology, char* part, char* diagonal,
                          int m, int n, void* a, int lda);
/* For broadcasts' receivers, and sums. */
typedef void ge_of_scope(int context, char* scope, char* topology, int m, int n, void* a, int lda,
                         int row, int column);
typedef void tr_of_scope(int context, char* scope, char* topology, char* part, char* diagonal,
                         int m, int n, void* a, int lda, int row, int column);
typedef void extreme(int context, char* scope, char* topology, int m, int n, void* a, int lda,
                     int* rows, int* columns, int ld, int row, int column);

struct matrix_calls {
  char type;
  size_t item_bytes;
  ge_move *gesd2d, *gerv2d;
  tr_move *trsd2d, *trrv2d;
  ge_broadcast* gebs2d;
  tr_broadcast* trbs2d;
  ge_of_scope *gebr2d, *gsum2d;
  tr_of_scope* trbr2d;
  extreme *gamx2d, *gamn2d;
};
extern const struct matrix_calls matrix_calls[kLanguages][kTypes];

struct grid_calls {
  int (*system_handle)(MPI_Comm comm);
  void (*get)(int context, int what, int* value);
  void (*set)(int context, int what, int* value);
  void (*gridinit)(int* context, char* order, int rows, int columns);
  void (*gridmap)(int* context, int* map, int ld, int rows, int columns);
  void (*gridinfo)(int context, int* rows, int* columns, int* row, int* column);
  void (*gridexit)(int context);
  int (*pnum)(int context, int row, int column);
  void (*pcoord)(int context, int number, int* row, int* column);
  void (*barrier)(int context, char* scope);
};
extern const struct grid_calls grid_calls[kLanguages];

MPI_Comm Cblacs2sys_handle(int handle);
void Cblacs_pinfo(int* number, int* count);
void Cblacs_abort(int context, int error);
void Cblacs_exit(int goes_on);

/* The context of a grid of all processes. */
int grid_of_all(int rows, int columns);

#endif
