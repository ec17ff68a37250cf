// SPDX-License-Identifier: BSD-3-Clause
// reduce.h - four algorithms for reductions and scans. All combine in the order of the ranks.
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

// Scans. Each member posts a copy of its elements and, as soon as it has computed it, the sum of
// all ranks up to its own. It searches backwards from the preceding rank to the nearest one that
// has posted a sum, and adds to that the elements of the ranks between, from left to right: the
// result does not depend on how far it searches. (Merrill and Garland, Single-pass parallel prefix
// scan with decoupled look-back, 2016.) Short elements without gaps. Needs memory that all can
// load.
//
//   4 of 5, first of all:     0 ─► 1 ─► 2 ─► 3 ─► 4      6 of 7, the last:     5 has its sum ─► 6
extern const Algorithm kLookBack;

// Recursive multiplying: at each level four neighbouring blocks of ranks become one. Each member
// posts its block's combined elements, and loads those of the other three blocks from one member of
// each, the one at its own place in the block. No member loads more than three lines a level, and
// few members load the same line. For large teams: barrier, and short elements without gaps. Needs
// memory that all can load.
//
//   5 members   0 1 2 3 │ 4          7 members   0 1 2 3 │ 4 5 6
//   level 0     each of a block has 0..3, 4       each of a block has 0..3, 4..6
//   level 1     each ◄─► one of the other block: 0 ◄─► 4, 1 ◄─► 5, 2 ◄─► 6, 3 ◄── 4
//
// Reduce: only the first member of a block combines it; at the last level the root does. Scan: at
// each level a member puts the blocks before its own in front of its result.
extern const Algorithm kRecursiveMultiplying;

// Each member combines one slice of all members' elements, straight from their buffers, and writes
// the result into every receive buffer that needs it: p members with n bytes each move 2 p n bytes
// through the node's memory.
// Needs memory that all can load and store.
//
//   5 members, 5 slices (7: the same)   rank 0 │ a │ b │ c │ d │ e │
//                                       rank 1 │ a │ b │ c │ d │ e │     slice a of all ──► rank 0
//                                        ...                             ──► slice a of each result
//                                       rank 4 │ a │ b │ c │ d │ e │
//                                                ▲   ▲           ▲
//                                                0   1    ...    4       rank that combines it
//
// Only the member that combines a slice touches it, so a result may overwrite the elements.
extern const Algorithm kSlices;

}  // namespace nagaya::coll
