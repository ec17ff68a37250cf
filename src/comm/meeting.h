// SPDX-License-Identifier: BSD-3-Clause
// meeting.h - how the processes of a job find each other before they can talk: each brings a card,
// each gets the cards of all. Whoever started the job is the meeting place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nagaya/llcl.h"

namespace nagaya::comm {

// What a process shows of itself. Plain data: it travels as bytes.
struct Card {
  uint64_t space;   // random: the same for the tasks of one space only
  uint32_t task;    // its number there
  uint32_t window;  // the region of its node's window, if it speaks for its node; else 0
  uint32_t address_bytes;
  char address[256];  // of its node's fabric, if it speaks for its node
};

class Meeting {
 public:
  virtual ~Meeting() = default;
  virtual uint32_t rank() const = 0;
  virtual uint32_t size() const = 0;
  // Are all processes of the job on this node?
  virtual bool is_local() const = 0;
  // Collective, once. The cards of all, by rank. Throws base::Error.
  virtual std::vector<Card> exchange(const Card& own) = 0;
  // Collective: all are here. Throws base::Error.
  virtual void fence() = 0;
};

// The one of this process's launcher: PMIx where there is one and the job has several nodes, else
// nobody but the space itself (exchange and fence are then not for use).
std::unique_ptr<Meeting> find_meeting(uint32_t task, uint32_t tasks_here);

}  // namespace nagaya::comm
