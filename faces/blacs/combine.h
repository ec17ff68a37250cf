// SPDX-License-Identifier: BSD-3-Clause
// combine.h - sums, and items of the greatest or least absolute value, of a scope's matrices.
// Items are combined in the order of the scope's processes; over several nodes node by node, from
// the result's node on. The result is the same on all processes, and in each run, whatever
// topology, repeatability and coherence the caller asks for.
#pragma once

#include "faces/blacs/grid.h"
#include "reduction/items.h"

namespace nagaya::blacs {

// A matrix of m x n items, `lda` items from one column to the next. The process at
// {destination_row, destination_column} gets the result, or all of the scope if one of the two is
// -1; at others the matrix is undefined then.
struct CombineOperand {
  Int m, n, lda;
  Int destination_row, destination_column;
};

template <class T>
void sum(Grid& grid, Scope scope, const CombineOperand& operand, T* matrix);

// Get the coordinates of the process that each extreme comes from, `ld` items from one column to
// the next. ld == -1: they are not wanted.
struct Origins {
  Int *rows, *columns;
  Int ld;
};

// Finds the items of greatest or least absolute value. If several are equally far from 0 it takes
// the greater one; with origins (ld is not -1) that of the first process in the order of ranks,
// counted cyclically from the result's process on (from rank 0 if all get it).
template <class T>
void find_extreme(Grid& grid, Scope scope, const CombineOperand& operand, T* matrix,
                  const Origins& origins, bool wants_greatest);

}  // namespace nagaya::blacs
