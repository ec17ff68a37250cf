// SPDX-License-Identifier: BSD-3-Clause
// exchange.h - alltoall of a large team by groups of neighbours: of short, equal blocks. A member
// takes data from the members of its group and from one member of each other group. By `move` it
// takes them from all others: of 128 members 128 lines, here 24. Needs memory that all can load.
//
//   groups of 8: 0 .. 7 │ 8 .. 15 │ 16 .. 23 │ ...         (5 or 7 members: one group)
//   first    member 3 of each group packs the blocks of its group for the members of groups 3, 11,
//            19, ...: 0 ─┐
//                     1 ─┼─► 3 posts | for group 3: of 0, of 1, ... | for group 11: ... | ...
//                    ...─┘
//   second   each member of group 3 takes its blocks from member 3 of each group
//
// A line's data: | the member's blocks for all | the packed blocks |; its level is 1 then.
#pragma once

#include "coll/operation.h"

namespace nagaya::coll {

extern const Algorithm kExchange;

// Whether kExchange can carry out an alltoall. Equal at all members.
bool can_exchange(const nagaya_collective& what, uint32_t size);

}  // namespace nagaya::coll
