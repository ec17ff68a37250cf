// SPDX-License-Identifier: BSD-3-Clause
// move.h - barrier, bcast, scatter, allgather and alltoall: each receiver copies its block
// straight from the memory of its sender. Needs memory that all can load.
//
//   bcast from 0 of 5      allgather of 5; barrier: the same, of no bytes
//   0 ─┬─► 1               0 ◄──► 1 ◄──► 2 ◄──► 3 ◄──► 4
//      ├─► 2               each copies from all others,
//      ├─► 3               the next one first:  0: 1 2 3 4
//      └─► 4                                    1: 2 3 4 0
//                                               4: 0 1 2 3
//
//   The barrier has one stage, because each member loads all lines. A barrier with one flag that
//   all load has two stages (all to one, and back); one of messages (hierarchy/) has as many as a
//   tree has levels.
//
//   7 members: the same. Scatter moves as bcast and alltoall as allgather, but each receiver gets
//   a block of its own.
//
// A sender posts short data as a copy, and waits for nobody. Long data are copied once, from the
// sender's memory to the receiver's; a sender that waits helps to copy.
#pragma once

#include "coll/operation.h"
#include "layout/runs.h"

namespace nagaya::coll {

extern const Algorithm kCopyFromSender;

// Stores a block that `sender` has for this member where it belongs, or passes it to the caller's
// `store`. `is_long`: waiting members may help to copy.
void receive_block(Operation& operation, uint32_t sender, const layout::Buffer& from, bool is_long);
// Does so with the block that `sender` has posted, or with the member's own one.
void receive(Operation& operation, uint32_t sender);

}  // namespace nagaya::coll
