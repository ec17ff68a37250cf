// SPDX-License-Identifier: BSD-3-Clause
// scalapack.cc - the functions of ScaLAPACK that this library does by direct address, for each type
// of items. Over several nodes they call ScaLAPACK's own.
#include "faces/blacs/entry_points.h"
#include "faces/blacs/point_to_point.h"
#include "faces/blacs/redistribution.h"
#include "faces/items.h"

using nagaya::Complex;
using nagaya::blacs::Descriptor;
using nagaya::blacs::Grid;
using nagaya::blacs::grid_of;
using nagaya::blacs::Int;
using nagaya::blacs::Scope;
using nagaya::blacs::Shape;

namespace {

// Returns whether it is done; if not, the caller calls ScaLAPACK's own function.
bool redistribute(const Shape& shape, size_t item_bytes, const nagaya::blacs::Submatrix& from,
                  const nagaya::blacs::Submatrix& to, Int context, const char* caller) {
  if (shape.m < 1 || shape.n < 1) return true;
  Grid& grid = grid_of(context, caller);
  if (!grid.is_in_one_node(Scope::kAll)) return false;
  nagaya::blacs::redistribute(grid, shape, item_bytes, from, to, caller);
  ++nagaya::blacs::send_counters().redistributions_direct;
  return true;
}

}  // namespace

#define REDISTRIBUTE_RECTANGLE(t, T)                                                              \
  NAGAYA_BLACS_ENTRY(void, Cp##t##gemr2d,                                                         \
                     (Int m, Int n, T * a, Int ia, Int ja, const Descriptor* desca, T* b, Int ib, \
                      Int jb, const Descriptor* descb, Int context),                              \
                     (m, n, a, ia, ja, desca, b, ib, jb, descb, context)) {                       \
    if (redistribute(Shape{m, n}, sizeof(T), {a, ia, ja, *desca}, {b, ib, jb, *descb}, context,   \
                     "p" #t "gemr2d"))                                                            \
      return;                                                                                     \
    static auto* const next_function =                                                            \
        nagaya::blacs::find_next_definition<decltype(Cp##t##gemr2d)>("Cp" #t "gemr2d");           \
    next_function(m, n, a, ia, ja, desca, b, ib, jb, descb, context);                             \
  }                                                                                               \
  NAGAYA_BLACS_ENTRY(void, p##t##gemr2d_,                                                         \
                     (Int * m, Int * n, T * a, Int * ia, Int * ja, const Descriptor* desca, T* b, \
                      Int* ib, Int* jb, const Descriptor* descb, Int* context),                   \
                     (m, n, a, ia, ja, desca, b, ib, jb, descb, context)) {                       \
    serve_Cp##t##gemr2d(*m, *n, a, *ia, *ja, desca, b, *ib, *jb, descb, *context);                \
  }

#define REDISTRIBUTE_TRAPEZOID(t, T)                                                               \
  NAGAYA_BLACS_ENTRY(                                                                              \
      void, Cp##t##trmr2d,                                                                         \
      (char* part, char* diagonal, Int m, Int n, T* a, Int ia, Int ja, const Descriptor* desca,    \
       T* b, Int ib, Int jb, const Descriptor* descb, Int context),                                \
      (part, diagonal, m, n, a, ia, ja, desca, b, ib, jb, descb, context)) {                       \
    if (redistribute(Shape::trapezoid(part, diagonal, m, n), sizeof(T), {a, ia, ja, *desca},       \
                     {b, ib, jb, *descb}, context, "p" #t "trmr2d"))                               \
      return;                                                                                      \
    static auto* const next_function =                                                             \
        nagaya::blacs::find_next_definition<decltype(Cp##t##trmr2d)>("Cp" #t "trmr2d");            \
    next_function(part, diagonal, m, n, a, ia, ja, desca, b, ib, jb, descb, context);              \
  }                                                                                                \
  NAGAYA_BLACS_ENTRY(                                                                              \
      void, p##t##trmr2d_,                                                                         \
      (char* part, char* diagonal, Int* m, Int* n, T* a, Int* ia, Int* ja,                         \
       const Descriptor* desca, T* b, Int* ib, Int* jb, const Descriptor* descb, Int* context),    \
      (part, diagonal, m, n, a, ia, ja, desca, b, ib, jb, descb, context)) {                       \
    serve_Cp##t##trmr2d(part, diagonal, *m, *n, a, *ia, *ja, desca, b, *ib, *jb, descb, *context); \
  }

#define REDISTRIBUTE(t, T)     \
  REDISTRIBUTE_RECTANGLE(t, T) \
  REDISTRIBUTE_TRAPEZOID(t, T)

REDISTRIBUTE(i, Int)
REDISTRIBUTE(s, float)
REDISTRIBUTE(d, double)
REDISTRIBUTE(c, Complex<float>)
REDISTRIBUTE(z, Complex<double>)
