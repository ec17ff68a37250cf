// SPDX-License-Identifier: BSD-3-Clause
// redistribution.h - ScaLAPACK's p?gemr2d and p?trmr2d by direct address: they copy a submatrix of
// a matrix that is distributed block-cyclically over one grid to a submatrix of a matrix that is
// distributed over another. In a node each process of the target's grid reads the sources' memory:
//
//   all          exchange where their local submatrices are, and the distributions (allgather)
//   targets      copy, from the sources' memory to their own
//   all          wait for each other: the sources' memory is their own again (barrier)
//
// Rows and columns are cut into intervals that lie in one block on both sides; a copy is one
// interval of rows in one column. In a trapezoid each column has its own first and last row.
#pragma once

#include "faces/blacs/grid.h"
#include "faces/blacs/shape.h"

namespace nagaya::blacs {

// ScaLAPACK's array descriptor: how a matrix is distributed over a grid, block-cyclically.
struct Descriptor {
  Int type;
  Int context;  // not of a grid: the caller has no part of it; other fields are ignored
  Int rows, columns;
  Int block_rows, block_columns;
  Int first_row, first_column;  // the process that has the first block
  Int ld;
};

// A rectangular part of a matrix.
struct Submatrix {
  void* local;      // the caller's part of the matrix
  Int row, column;  // where the part begins in the matrix, from 1
  const Descriptor& descriptor;
};

// Copies the items of `shape`. All processes of `grid`, which is in one node, call it. Ends the job
// if a part is not inside of its matrix.
void redistribute(Grid& grid, const Shape& shape, size_t item_bytes, const Submatrix& from,
                  const Submatrix& to);

}  // namespace nagaya::blacs
