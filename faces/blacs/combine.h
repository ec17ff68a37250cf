// SPDX-License-Identifier: BSD-3-Clause
// combine.h - sums, and items of the greatest or least absolute value, of a scope's matrices. In
// the order of the scope's processes; over several nodes node by node, from the result's node on.
// The same on all processes, and in each run, whatever topology, repeatability and coherence the
// caller asks for.
#pragma once

#include "faces/blacs/grid.h"
#include "faces/items.h"

namespace nagaya::blacs {

// m x n items, `lda` from one column to the next. The result is at the process {row, column}, or at
// all of the scope if one of them is -1; elsewhere the matrix is as good as lost.
struct Place {
  Int m, n, lda;
  Int row, column;
};

template <class T>
void sum(Grid& grid, Scope scope, const Place& place, T* matrix);

// Where the results come from; ld == -1: nobody asks.
struct Origins {
  Int *rows, *columns;
  Int ld;
};

// Of items that are equally far from 0: those of the process that follows the result's first (ld is
// not -1), or else the greater one.
template <class T>
void find_extreme(Grid& grid, Scope scope, const Place& place, T* matrix, const Origins& origins,
                  bool wants_greatest);

}  // namespace nagaya::blacs
