// SPDX-License-Identifier: BSD-3-Clause
// board.h - what the tasks of a node and its delegatee share to talk: the notice board of the
// house.
//
//   SpaceHeader.upper_floors ──► Board ──► mailboxes, one per task number
//                                      ──► lanes, one per thread that makes requests, and their
//                                      bells ──► regions
//
// Made by the host before its first task, in pages of zeros that cost nothing until used; never
// moved, never freed. Which node this is comes later, from whoever wires the job up (comm).
#pragma once

#include "base/fd.h"
#include "llcl/command.h"
#include "llcl/region.h"
#include "mailbox/lane_set.h"
#include "mailbox/mailbox.h"
#include "mailbox/thread_bell.h"
#include "mailbox/waiting.h"

namespace nagaya::llcl {

using Lanes = mailbox::LaneSet<Command>;

struct Board {
  task::Stamp stamp;
  uint32_t capacity;            // tasks
  std::atomic<uint32_t> node;   // this one; 0 until the job is wired up
  std::atomic<uint32_t> nodes;  // of the job; 1 until then. Release after `node`, acquire before it
  std::atomic<void*> world;     // comm's; nullptr until then
  std::atomic<uint32_t>* attached;  // by task number: mailbox::Owner of the task that takes part
  mailbox::Mailbox* mailboxes;      // by task number
  Lanes* lanes;
  mailbox::Doorbell* lane_bells;  // rung when a command of the lane is complete
  RegionTable* regions;
  std::atomic<uint64_t> dropped;  // active messages without a handler
  mailbox::Load load;
  mailbox::ThreadBell delegatee_bell;
};

// In the host, for a space of `capacity` tasks: lays the board out in memory of its own and shows
// it to all tasks to come. The memory must live as long as the space.
base::Mapping create_board(task::SpaceHeader& space);

// In the host, when task `number` has ended and before the number is used again: takes back what it
// held, but its lanes, which are their consumer's to take back. Who it was; nobody: it took no
// part.
mailbox::Owner reclaim(Board& board, uint32_t number);

}  // namespace nagaya::llcl
