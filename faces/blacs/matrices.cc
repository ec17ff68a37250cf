// SPDX-License-Identifier: BSD-3-Clause
// matrices.cc - the BLACS's functions that move and combine matrices, for each type of items.
#include <utility>

#include "faces/blacs/broadcast.h"
#include "faces/blacs/combine.h"
#include "faces/blacs/entry_points.h"
#include "faces/blacs/point_to_point.h"

using nagaya::Complex;
using nagaya::blacs::Grid;
using nagaya::blacs::grid_of;
using nagaya::blacs::Int;
using nagaya::blacs::Layout;
using nagaya::blacs::Scope;
using nagaya::blacs::Shape;

namespace {

template <class T>
Layout rectangle(Int m, Int n, const T* matrix, Int lda) {
  return Layout::rectangle(const_cast<T*>(matrix), m, n, lda, sizeof(T));
}

template <class T>
Layout trapezoid(const char* part, const char* diagonal, Int m, Int n, const T* matrix, Int lda) {
  return Layout::trapezoid(const_cast<T*>(matrix), Shape::trapezoid(part, diagonal, m, n), lda,
                           sizeof(T));
}

Int process_at(const Grid& grid, Int row, Int column) {
  if (row < 0 || row >= grid.rows() || column < 0 || column >= grid.columns())
    grid.refuse_call("there is no process {" + std::to_string(row) + "," + std::to_string(column) +
                     "} in a grid of " + std::to_string(grid.rows()) + " x " +
                     std::to_string(grid.columns()));
  return grid.number_of(row, column);
}

// Returns the rank of a process in the caller's row, in its column, or in the grid: a coordinate
// that the scope implies is ignored. Ends the job if there is no such process.
Int rank_at(const Grid& grid, Scope scope, Int row, Int column) {
  process_at(grid, scope == Scope::kRow ? grid.row() : row,
             scope == Scope::kColumn ? grid.column() : column);
  return grid.rank_in(scope, row, column);
}

void send(Int context, const Layout& layout, Int row, Int column) {
  Grid& grid = grid_of(context);
  nagaya::blacs::send(grid, process_at(grid, row, column), layout);
}

void receive(Int context, const Layout& layout, Int row, Int column) {
  Grid& grid = grid_of(context);
  nagaya::blacs::receive(grid, process_at(grid, row, column), layout);
}

// Topologies say how data go from process to process: any letter means the fastest way here.
void broadcast(Int context, const char* letter, const char* topology, const Layout& layout) {
  static_cast<void>(topology);
  nagaya::blacs::broadcast(grid_of(context), nagaya::blacs::scope_of(letter), layout);
}

void receive_broadcast(Int context, const char* letter, const char* topology, const Layout& layout,
                       Int row, Int column) {
  static_cast<void>(topology);
  Grid& grid = grid_of(context);
  const Scope scope = nagaya::blacs::scope_of(letter);
  const Int root = rank_at(grid, scope, row, column);
  nagaya::blacs::receive_broadcast(grid, scope, root, layout);
}

// Returns the grid and the scope of a combine operation. Ends the job if its destination does not
// exist.
std::pair<Grid&, Scope> scope_of_combine(Int context, const char* letter, Int row, Int column) {
  Grid& grid = grid_of(context);
  const Scope scope = nagaya::blacs::scope_of(letter);
  if (row != -1 && column != -1) rank_at(grid, scope, row, column);
  return {grid, scope};
}

template <class T>
void sum(Int context, const char* letter, const char* topology, Int m, Int n, T* matrix, Int lda,
         Int row, Int column) {
  static_cast<void>(topology);
  const auto [grid, scope] = scope_of_combine(context, letter, row, column);
  nagaya::blacs::sum(grid, scope, {m, n, lda, row, column}, matrix);
}

template <class T>
void find_extreme(bool wants_greatest, Int context, const char* letter, const char* topology, Int m,
                  Int n, T* matrix, Int lda, Int* rows, Int* columns, Int ld, Int row, Int column) {
  static_cast<void>(topology);
  const auto [grid, scope] = scope_of_combine(context, letter, row, column);
  nagaya::blacs::find_extreme(grid, scope, {m, n, lda, row, column}, matrix, {rows, columns, ld},
                              wants_greatest);
}

}  // namespace

// ---- the functions' parameters (entry_points.h) -------------------------------------------------

#define RECTANGLE(I, P, S, M) (I context, I m, I n, M a, I lda, I row, I column)
#define TRAPEZOID(I, P, S, M) (I context, S part, S diagonal, I m, I n, M a, I lda, I row, I column)
#define BROADCAST_OF_RECTANGLE(I, P, S, M) (I context, S scope, S top, I m, I n, M a, I lda)
#define BROADCAST_OF_TRAPEZOID(I, P, S, M) \
  (I context, S scope, S top, S part, S diagonal, I m, I n, M a, I lda)
#define RECTANGLE_IN_SCOPE(I, P, S, M) \
  (I context, S scope, S top, I m, I n, M a, I lda, I row, I column)
#define TRAPEZOID_IN_SCOPE(I, P, S, M) \
  (I context, S scope, S top, S part, S diagonal, I m, I n, M a, I lda, I row, I column)
#define EXTREME(I, P, S, M) \
  (I context, S scope, S top, I m, I n, M a, I lda, P rows, P columns, I ld, I row, I column)

// ---- point-to-point, and broadcasts -------------------------------------------------------------

#define ENTRIES NAGAYA_BLACS_ENTRIES

// MOVE(d, double) defines dgesd2d and the seven other functions for items of type double: dgesd2d_
// for Fortran, Cdgesd2d for C.
#define MOVE(t, T)                                                                                \
  ENTRIES(void, t##gesd2d, RECTANGLE, T) {                                                        \
    send(context, rectangle(m, n, a, lda), row, column);                                          \
  }                                                                                               \
  ENTRIES(void, t##gerv2d, RECTANGLE, T) {                                                        \
    receive(context, rectangle(m, n, a, lda), row, column);                                       \
  }                                                                                               \
  ENTRIES(void, t##trsd2d, TRAPEZOID, T) {                                                        \
    send(context, trapezoid(part, diagonal, m, n, a, lda), row, column);                          \
  }                                                                                               \
  ENTRIES(void, t##trrv2d, TRAPEZOID, T) {                                                        \
    receive(context, trapezoid(part, diagonal, m, n, a, lda), row, column);                       \
  }                                                                                               \
  ENTRIES(void, t##gebs2d, BROADCAST_OF_RECTANGLE, T) {                                           \
    broadcast(context, scope, top, rectangle(m, n, a, lda));                                      \
  }                                                                                               \
  ENTRIES(void, t##gebr2d, RECTANGLE_IN_SCOPE, T) {                                               \
    receive_broadcast(context, scope, top, rectangle(m, n, a, lda), row, column);                 \
  }                                                                                               \
  ENTRIES(void, t##trbs2d, BROADCAST_OF_TRAPEZOID, T) {                                           \
    broadcast(context, scope, top, trapezoid(part, diagonal, m, n, a, lda));                      \
  }                                                                                               \
  ENTRIES(void, t##trbr2d, TRAPEZOID_IN_SCOPE, T) {                                               \
    receive_broadcast(context, scope, top, trapezoid(part, diagonal, m, n, a, lda), row, column); \
  }

MOVE(i, Int)
MOVE(s, float)
MOVE(d, double)
MOVE(c, Complex<float>)
MOVE(z, Complex<double>)

// ---- combine ------------------------------------------------------------------------------------

// COMBINE(d, double) defines dgsum2d, dgamx2d and dgamn2d in the same way.
#define COMBINE(t, T)                                                                       \
  ENTRIES(void, t##gsum2d, RECTANGLE_IN_SCOPE, T) {                                         \
    sum(context, scope, top, m, n, a, lda, row, column);                                    \
  }                                                                                         \
  ENTRIES(void, t##gamx2d, EXTREME, T) {                                                    \
    find_extreme(true, context, scope, top, m, n, a, lda, rows, columns, ld, row, column);  \
  }                                                                                         \
  ENTRIES(void, t##gamn2d, EXTREME, T) {                                                    \
    find_extreme(false, context, scope, top, m, n, a, lda, rows, columns, ld, row, column); \
  }

COMBINE(i, Int)
COMBINE(s, float)
COMBINE(d, double)
COMBINE(c, Complex<float>)
COMBINE(z, Complex<double>)
