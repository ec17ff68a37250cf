// SPDX-License-Identifier: BSD-3-Clause
// queues.h - a mailbox, and the lanes of delegatees, on a modelled node: the code of src/mailbox.
#pragma once

#include <cstdint>
#include <vector>

#include "scale/description.h"

namespace nagaya::bench::scale {

// Posters, one on each core but the reader's, post to one mailbox and ring its bell; the reader
// takes. Returns the time of a message [ns].
double message_ns(const Description& machine, uint32_t posters);

// Tasks, each with a lane, ask delegatees, each on a core of its own, for one thing after another,
// and wait for the answer: a word in a line of the task.
struct Delegation {
  uint32_t tasks;
  uint32_t delegatees;
  double command_ns;  // a delegatee's time for one command, without its accesses to lanes
};
struct Rate {
  double answer_ns;        // from a request to its answer, mean of all
  double commands_per_us;  // of the node
};
Rate rate_of(const Description& machine, const Delegation& delegation);

}  // namespace nagaya::bench::scale
