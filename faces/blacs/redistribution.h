// SPDX-License-Identifier: BSD-3-Clause
// redistribution.h - ScaLAPACK's p?gemr2d and p?trmr2d by direct address: a part of a matrix that
// is dealt to one grid is copied to a part of one that is dealt to another grid. In a node each
// process of the target's grid takes what it gets from where it is:
//
//   all          tell each other where their parts are, and how they are dealt (allgather)
//   targets      copy, from the sources' memory to their own
//   all          wait for each other: the sources' memory is their own again (barrier)
//
// Rows and columns are cut into intervals that lie in one block on both sides; a copy is one
// interval of rows in one column. Of a trapezoid each column has a first row and a last one of its
// own.
#pragma once

#include "faces/blacs/grid.h"
#include "faces/blacs/shape.h"

namespace nagaya::blacs {

// How ScaLAPACK says how a matrix is dealt: in blocks, cyclically.
struct Descriptor {
  Int type;
  Int context;  // of no grid: the caller has no part of it, and no other field means anything
  Int rows, columns;
  Int block_rows, block_columns;
  Int first_row, first_column;  // the process that has the first block
  Int ld;
};

// A part of a matrix.
struct Submatrix {
  void* local;      // the caller's part of the matrix
  Int row, column;  // where it begins, from 1
  const Descriptor& descriptor;
};

// All processes of `grid`, which is in one node, call it. Parts that are not in their matrices end
// the job with a line that names `caller`.
void redistribute(Grid& grid, const Shape& shape, size_t item_bytes, const Submatrix& from,
                  const Submatrix& to, const char* caller);

}  // namespace nagaya::blacs
