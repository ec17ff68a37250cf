/* SPDX-License-Identifier: BSD-3-Clause */
#include "calls.h"

/* ---- C ------------------------------------------------------------------------------------- */

void Cblacs_get(int context, int what, int* value);
void Cblacs_set(int context, int what, int* value);
void Cblacs_gridinit(int* context, char* order, int rows, int columns);
void Cblacs_gridmap(int* context, int* map, int ld, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
int Cblacs_pnum(int context, int row, int column);
void Cblacs_pcoord(int context, int number, int* row, int* column);
void Cblacs_barrier(int context, char* scope);
int Csys2blacs_handle(MPI_Comm comm);

#define DECLARE_C(t)                      \
  ge_move C##t##gesd2d, C##t##gerv2d;     \
  tr_move C##t##trsd2d, C##t##trrv2d;     \
  ge_broadcast C##t##gebs2d;              \
  tr_broadcast C##t##trbs2d;              \
  ge_of_scope C##t##gebr2d, C##t##gsum2d; \
  tr_of_scope C##t##trbr2d;               \
  extreme C##t##gamx2d, C##t##gamn2d;
DECLARE_C(i)
DECLARE_C(s)
DECLARE_C(d)
DECLARE_C(c)
DECLARE_C(z)

/* ---- Fortran: the functions, and a caller of each with addresses --------------------------- */

void blacs_get_(int* context, int* what, int* value);
void blacs_set_(int* context, int* what, int* value);
void blacs_gridinit_(int* context, char* order, int* rows, int* columns);
void blacs_gridmap_(int* context, int* map, int* ld, int* rows, int* columns);
void blacs_gridinfo_(int* context, int* rows, int* columns, int* row, int* column);
void blacs_gridexit_(int* context);
int blacs_pnum_(int* context, int* row, int* column);
void blacs_pcoord_(int* context, int* number, int* row, int* column);
void blacs_barrier_(int* context, char* scope);

static int handle_for_fortran(MPI_Comm comm) {
  return (int)MPI_Comm_c2f(comm);
}
static void get(int context, int what, int* value) {
  blacs_get_(&context, &what, value);
}
static void set(int context, int what, int* value) {
  blacs_set_(&context, &what, value);
}
static void gridinit(int* context, char* order, int rows, int columns) {
  blacs_gridinit_(context, order, &rows, &columns);
}
static void gridmap(int* context, int* map, int ld, int rows, int columns) {
  blacs_gridmap_(context, map, &ld, &rows, &columns);
}
static void gridinfo(int context, int* rows, int* columns, int* row, int* column) {
  blacs_gridinfo_(&context, rows, columns, row, column);
}
static void gridexit(int context) {
  blacs_gridexit_(&context);
}
static int pnum(int context, int row, int column) {
  return blacs_pnum_(&context, &row, &column);
}
static void pcoord(int context, int number, int* row, int* column) {
  blacs_pcoord_(&context, &number, row, column);
}
static void barrier(int context, char* scope) {
  blacs_barrier_(&context, scope);
}

#define GE_MOVE(name)                                                                  \
  void name##_(int*, int*, int*, void*, int*, int*, int*);                             \
  static void name(int context, int m, int n, void* a, int lda, int row, int column) { \
    name##_(&context, &m, &n, a, &lda, &row, &column);                                 \
  }
#define TR_MOVE(name)                                                                       \
  void name##_(int*, char*, char*, int*, int*, void*, int*, int*, int*);                    \
  static void name(int context, char* part, char* diagonal, int m, int n, void* a, int lda, \
                   int row, int column) {                                                   \
    name##_(&context, part, diagonal, &m, &n, a, &lda, &row, &column);                      \
  }
#define GE_BROADCAST(name)                                                                \
  void name##_(int*, char*, char*, int*, int*, void*, int*);                              \
  static void name(int context, char* scope, char* top, int m, int n, void* a, int lda) { \
    name##_(&context, scope, top, &m, &n, a, &lda);                                       \
  }
#define TR_BROADCAST(name)                                                                        \
  void name##_(int*, char*, char*, char*, char*, int*, int*, void*, int*);                        \
  static void name(int context, char* scope, char* top, char* part, char* diagonal, int m, int n, \
                   void* a, int lda) {                                                            \
    name##_(&context, scope, top, part, diagonal, &m, &n, a, &lda);                               \
  }
#define GE_OF_SCOPE(name)                                                                        \
  void name##_(int*, char*, char*, int*, int*, void*, int*, int*, int*);                         \
  static void name(int context, char* scope, char* top, int m, int n, void* a, int lda, int row, \
                   int column) {                                                                 \
    name##_(&context, scope, top, &m, &n, a, &lda, &row, &column);                               \
  }
#define TR_OF_SCOPE(name)                                                                         \
  void name##_(int*, char*, char*, char*, char*, int*, int*, void*, int*, int*, int*);            \
  static void name(int context, char* scope, char* top, char* part, char* diagonal, int m, int n, \
                   void* a, int lda, int row, int column) {                                       \
    name##_(&context, scope, top, part, diagonal, &m, &n, a, &lda, &row, &column);                \
  }
#define EXTREME(name)                                                                              \
  void name##_(int*, char*, char*, int*, int*, void*, int*, int*, int*, int*, int*, int*);         \
  static void name(int context, char* scope, char* top, int m, int n, void* a, int lda, int* rows, \
                   int* columns, int ld, int row, int column) {                                    \
    name##_(&context, scope, top, &m, &n, a, &lda, rows, columns, &ld, &row, &column);             \
  }
#define DEFINE_GE(t)      \
  GE_MOVE(t##gesd2d)      \
  GE_MOVE(t##gerv2d)      \
  GE_BROADCAST(t##gebs2d) \
  GE_OF_SCOPE(t##gebr2d)  \
  GE_OF_SCOPE(t##gsum2d)
#define DEFINE_TR(t)      \
  TR_MOVE(t##trsd2d)      \
  TR_MOVE(t##trrv2d)      \
  TR_BROADCAST(t##trbs2d) \
  TR_OF_SCOPE(t##trbr2d)
#define DEFINE(t)    \
  DEFINE_GE(t)       \
  DEFINE_TR(t)       \
  EXTREME(t##gamx2d) \
  EXTREME(t##gamn2d)
DEFINE(i)
DEFINE(s)
DEFINE(d)
DEFINE(c)
DEFINE(z)

/* ---- the tables ---------------------------------------------------------------------------- */

#define OF_TYPE(letter, bytes, t)                                                               \
  {                                                                                             \
    letter, bytes, t##gesd2d, t##gerv2d, t##trsd2d, t##trrv2d, t##gebs2d, t##trbs2d, t##gebr2d, \
        t##gsum2d, t##trbr2d, t##gamx2d, t##gamn2d                                              \
  }

const struct matrix_calls matrix_calls[kLanguages][kTypes] = {
    {OF_TYPE('i', sizeof(int), Ci), OF_TYPE('s', sizeof(float), Cs),
     OF_TYPE('d', sizeof(double), Cd), OF_TYPE('c', 2 * sizeof(float), Cc),
     OF_TYPE('z', 2 * sizeof(double), Cz)},
    {OF_TYPE('i', sizeof(int), i), OF_TYPE('s', sizeof(float), s), OF_TYPE('d', sizeof(double), d),
     OF_TYPE('c', 2 * sizeof(float), c), OF_TYPE('z', 2 * sizeof(double), z)}};

const struct grid_calls grid_calls[kLanguages] = {
    {Csys2blacs_handle, Cblacs_get, Cblacs_set, Cblacs_gridinit, Cblacs_gridmap, Cblacs_gridinfo,
     Cblacs_gridexit, Cblacs_pnum, Cblacs_pcoord, Cblacs_barrier},
    {handle_for_fortran, get, set, gridinit, gridmap, gridinfo, gridexit, pnum, pcoord, barrier}};

int grid_of_all(int rows, int columns) {
  int context;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", rows, columns);
  return context;
}
