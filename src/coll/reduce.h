// SPDX-License-Identifier: BSD-3-Clause
// reduce.h - reductions, by two algorithms. All combine in the order of the ranks.
#pragma once

#include "coll/operation.h"

namespace nagaya::coll {

// Each member posts a copy of its elements; whoever has a result combines all of them by itself.
// Short elements without gaps. Needs memory that all can load.
//
//   reduce to 0 of 5     allreduce of 5 (of 7: the same)     reduce_scatter:
//   0 1 2 3 4            0 1 2 3 4                           as allreduce, each its own share
//   └─┴─┴─┴─┴─► 0        └─┴─┴─┴─┴─► 0, 1, 2, 3, 4 each      scan:
//                                                            each the ranks up to its own
extern const Algorithm kCombine;

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
