// SPDX-License-Identifier: BSD-3-Clause
// point_to_point.h - messages of two. The n-th receive from a process gets its n-th message: there
// are no tags.
//
//   up to the eager limit   the message is handed over at once
//   longer                  sender of message n                   receiver
//                                          ◄── ready for n ──     receives into its matrix
//                           sends from its matrix ─────────►
//                           or, if no `ready` comes for as long as a copy takes: sends from a
//                           copy, and goes on
//
// So a send never waits for its receive, and costs at most a copy more than it must. Whether a
// message is long each side says of its own matrix. A receiver whose matrix is larger than the
// message sends a `ready` that nothing receives: the number keeps it from a later message. Now and
// then the sender takes such ones out, and gridexit drops the rest.
#pragma once

#include "faces/blacs/grid.h"
#include "faces/blacs/layout.h"
#include "nagaya/blacs.h"

namespace nagaya::blacs {

void send(Grid& grid, Int to, const Layout& layout);
void receive(Grid& grid, Int from, const Layout& layout);

// The numbers behind blacs_count_sends().
blacs_sends& sends_counted();

// Returns when all messages that are sent from copies have been received.
void await_sends();

}  // namespace nagaya::blacs
