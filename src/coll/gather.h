// SPDX-License-Identifier: BSD-3-Clause
// gather.h - gather: a long block is copied by its sender or by the root, whichever comes first.
// By `move` the root would copy all blocks alone while the members wait. Needs memory that all can
// load and store into.
//
//   gather to 0 of 5, long blocks:   0 posts its blocks     1 posts its block
//                                            block 1: taken by 0 or by 1, by an exchange
//
//   block   free -> taken   by the root, which copies it into its own blocks, or by its sender,
//                           which copies it there if the root's line tells where
//           taken -> moved  by the sender: it leaves the collective; by the root: it goes on
//
// The root's line tells no place, and the root copies all, if its blocks are short, differ in size,
// lie in runs, or go to a `store`. Short blocks are copies in the senders' lines, as in `move`.
//
// Death of a sender that copies: it never leaves the collective, and the root waits until the job
// has ended (law 4).
#pragma once

#include "coll/operation.h"

namespace nagaya::coll {

extern const Algorithm kGather;

}  // namespace nagaya::coll
