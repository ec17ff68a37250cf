// SPDX-License-Identifier: BSD-3-Clause
// library.h - the state of FMPL between fmpl_init() and fmpl_finalize().
#pragma once

#include <vector>

#include "nagaya/coll.h"
#include "nagaya/fmpl.h"

namespace nagaya::fmpl {

struct Communicator {
  std::vector<nagaya_process> processes;
  int rank = 0;
  uint32_t number = 0;  // the same at all members
  // Each from its first collective on: with special support, and by messages.
  nagaya_team *team = nullptr, *team_by_messages = nullptr;
  bool has_support = true;  // its collectives shall have it
};

struct Library {
  nagaya_areas* areas = nullptr;
  std::vector<Communicator> communicators;  // by handle; without processes: it is free
};

// nullptr: not initialised, or a forked child, which has no part in the job.
Library* library();
// nullptr: there is none.
Communicator* communicator_of(int comm);

// A function that reductions combine by. Programs name it by its address.
struct Function {
  size_t item_bytes;
  void (*call)(void* func, const void* in, void* inout, size_t count);
};
void add_function(void* func, const Function& function);
// Returns a status.
int reduce(nagaya_collective_kind kind, void* buf, int count, void* func, int root, int comm);

// One of FMPL's, from one of Nagaya's.
int status_of(int error);

}  // namespace nagaya::fmpl
