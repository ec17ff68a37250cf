// SPDX-License-Identifier: BSD-3-Clause
// point_to_point.h - messages from one process to one other. The n-th receive from a process gets
// its n-th message: there are no tags.
//
//   up to the eager limit   the message is handed over at once
//   longer                  sender of message n                   receiver
//                                          ◄── ready for n ──     receives into its matrix
//                           sends from its matrix ─────────►
//                           or, if no `ready` comes for as long as a copy takes: sends from a
//                           copy, and goes on
//
// So a send never waits for its receive, and costs at most a copy more than it must. Each side
// decides by the size of its own matrix whether a message is long. A receiver whose matrix is
// larger than the message may send a `ready` that the sender does not expect. Such a `ready` has
// the number of its message as its tag, so no later message takes it for its own. The sender
// removes the old ones every 64 messages, and gridexit drops the rest.
#pragma once

#include "faces/blacs/grid.h"
#include "faces/blacs/layout.h"
#include "nagaya/blacs.h"

namespace nagaya::blacs {

void send(Grid& grid, Int to, const Layout& layout);
void receive(Grid& grid, Int from, const Layout& layout);

// The counters that blacs_count_sends() returns.
blacs_sends& send_counters();

// Returns when all messages that are sent from copies have been received.
void await_sends();

}  // namespace nagaya::blacs
