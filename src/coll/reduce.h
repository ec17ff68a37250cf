// SPDX-License-Identifier: BSD-3-Clause
// reduce.h - reductions, by three algorithms. All combine in the order of the ranks.
#pragma once

#include "coll/operation.h"

namespace nagaya::coll {

// Each member posts a copy of its elements; a member with a result combines all of them by itself.
// Short elements without gaps. Needs memory that all can load.
//
//   reduce to 0 of 5     allreduce of 5 (of 7: the same)     reduce_scatter:
//   0 1 2 3 4            0 1 2 3 4                           as allreduce, each its own share
//   └─┴─┴─┴─┴─► 0        └─┴─┴─┴─┴─► 0, 1, 2, 3, 4 each
extern const Algorithm kCombine;

// Scans. Each member posts a copy of its elements and, as soon as it has that, the sum of all up to
// it. It looks back from its neighbour to the nearest member that has posted a sum, and adds the
// elements behind that from left to right: the result is the same however far it looks. (Merrill
// and Garland, Single-pass parallel prefix scan with decoupled look-back, 2016.) Short elements
// without gaps. Needs memory that all can load.
//
//   4 of 5, first of all:     0 ─► 1 ─► 2 ─► 3 ─► 4      6 of 7, the last:     5 has its sum ─► 6
extern const Algorithm kLookBack;

// Recursive multiplying: at each level four blocks of neighbours become one. Each member posts its
// block's elements combined, and loads those of one member of each of the three others, at its own
// place there. Nobody loads more than three lines a level, nor is a line loaded by many. Large
// teams: barrier, and short elements without gaps. Needs memory that all can load.
//
//   5 members   0 1 2 3 │ 4          7 members   0 1 2 3 │ 4 5 6
//   level 0     each of a block has 0..3, 4       each of a block has 0..3, 4..6
//   level 1     each ◄─► one of the other block: 0 ◄─► 4, 1 ◄─► 5, 2 ◄─► 6, 3 ◄── 4
//
// Reduce: only the first of a block collects it, at last the root. Scan: blocks before the own one
// are put before the member's result at each level.
extern const Algorithm kRecursive;

// Each member combines one slice of the elements of all, straight from their buffers, and writes
// the result into all buffers that it belongs to: 2 p n bytes go through the node's memory.
// Needs memory that all can load and store.
//
//   5 members, 5 slices (7: the same)   rank 0 │ a │ b │ c │ d │ e │
//                                       rank 1 │ a │ b │ c │ d │ e │     slice a of all ──► rank 0
//                                        ...                             ──► slice a of each result
//                                       rank 4 │ a │ b │ c │ d │ e │
//                                                ▲   ▲           ▲
//                                                0   1    ...    4       who works there
//
// Only its worker touches a slice, so a result may lie where the elements were.
extern const Algorithm kSlices;

}  // namespace nagaya::coll
