// SPDX-License-Identifier: BSD-3-Clause
// scalapack.cc - the functions of ScaLAPACK that this library does by direct address, for each type
// of items. Over several nodes they call ScaLAPACK's own.
#include "faces/blacs/entry_points.h"
#include "faces/blacs/point_to_point.h"
#include "faces/blacs/redistribution.h"
#include "reduction/items.h"

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
                  const nagaya::blacs::Submatrix& to, Int context) {
  if (shape.m < 1 || shape.n < 1) return true;
  Grid& grid = grid_of(context);
  if (!grid.is_in_one_node(Scope::kAll)) return false;
  nagaya::blacs::redistribute(grid, shape, item_bytes, from, to);
  ++nagaya::blacs::send_counters().redistributions_direct;
  return true;
}

nagaya::blacs::Submatrix submatrix(void* local, Int row, Int column, const Int* descriptor) {
  return {local, row, column, *reinterpret_cast<const Descriptor*>(descriptor)};
}

}  // namespace

// The functions' parameters (entry_points.h). `desc`: a Descriptor.
#define RECTANGLE(I, P, S, M) \
  (I m, I n, M a, I ia, I ja, P desca, M b, I ib, I jb, P descb, I context)
#define TRAPEZOID(I, P, S, M) \
  (S part, S diagonal, I m, I n, M a, I ia, I ja, P desca, M b, I ib, I jb, P descb, I context)

// Redistributes, or calls the next library's C`name`.
#define REDISTRIBUTE(name, PARAMETERS, T, shape)                                                 \
  NAGAYA_BLACS_ENTRIES(void, name, PARAMETERS, T) {                                              \
    if (redistribute(shape, sizeof(T), submatrix(a, ia, ja, desca), submatrix(b, ib, jb, descb), \
                     context))                                                                   \
      return;                                                                                    \
    static auto* const next_function =                                                           \
        nagaya::blacs::find_next_definition<decltype(C##name)>("C" #name);                       \
    next_function PARAMETERS(, , , );                                                            \
  }

#define REDISTRIBUTE_BOTH(t, T)                           \
  REDISTRIBUTE(p##t##gemr2d, RECTANGLE, T, (Shape{m, n})) \
  REDISTRIBUTE(p##t##trmr2d, TRAPEZOID, T, Shape::trapezoid(part, diagonal, m, n))

REDISTRIBUTE_BOTH(i, Int)
REDISTRIBUTE_BOTH(s, float)
REDISTRIBUTE_BOTH(d, double)
REDISTRIBUTE_BOTH(c, Complex<float>)
REDISTRIBUTE_BOTH(z, Complex<double>)
