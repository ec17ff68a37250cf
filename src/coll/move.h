// SPDX-License-Identifier: BSD-3-Clause
// move.h - barrier, bcast, gather, scatter, allgather and alltoall: each member takes what it gets
// from where its giver has it. Needs memory that all can load.
//
//   bcast from 0 of 5      gather to 0 of 5     allgather of 5; barrier: the same, of no bytes
//   0 ─┬─► 1               1 ─┬─► 0             0 ◄──► 1 ◄──► 2 ◄──► 3 ◄──► 4   each from all
//   others,
//      ├─► 2               2 ─┤                 the next one first:  0: 1 2 3 4
//      ├─► 3               3 ─┤                                      1: 2 3 4 0
//      └─► 4               4 ─┘                                      4: 0 1 2 3
//
//   The barrier has one stage, because each member loads all lines: with one flag that all load, it
//   has two (all to one, and back), and by messages (hierarchy/) as many as a tree has levels.
//
//   7 members: the same; scatter is as bcast, alltoall as allgather, each with a block of its own
//
// Short data are posted as a copy: a giver needs to wait for nobody. Long data are copied once,
// from the giver's memory to the taker's; a giver helps while it waits.
#pragma once

#include "coll/operation.h"

namespace nagaya::coll {

extern const Algorithm kMove;

}  // namespace nagaya::coll
