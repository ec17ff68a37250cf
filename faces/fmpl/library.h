// SPDX-License-Identifier: BSD-3-Clause
// library.h - the state of FMPL between fmpl_init() and fmpl_finalize().
#pragma once

#include <vector>

#include "faces/processes.h"
#include "nagaya/coll.h"
#include "nagaya/fmpl.h"

namespace nagaya::fmpl {

struct Communicator {
  Processes processes;
  uint32_t number = 0;  // the same at all members
  // With special support, and by point-to-point messages. nullptr before the first collective of
  // each.
  nagaya_team *team = nullptr, *team_by_messages = nullptr;
  bool has_support = true;  // its collectives use special support

  int rank() const { return static_cast<int>(nagaya_processes_rank(processes.get())); }
  int size() const { return static_cast<int>(nagaya_processes_size(processes.get())); }
};

struct Library {
  nagaya_areas* areas = nullptr;
  std::vector<Communicator> communicators;  // by handle; one without processes is free
};

// Returns nullptr if it is not initialised, and in a forked child, which has no part in the job.
Library* library();
// Returns nullptr if there is none of that handle.
Communicator* communicator_of(int comm);

// A function by which reductions combine items. Programs pass its address (`func`).
struct Function {
  size_t item_bytes;
  void (*call)(void* func, const void* in, void* inout, size_t count);
};
void register_function(void* func, const Function& function);
// Reduces the items of `buf` in place. Returns one of FMPL's statuses.
int reduce(nagaya_collective_kind kind, void* buf, int count, void* func, int root, int comm);

// Returns FMPL's status for 0 or one of Nagaya's errors (a negative errno).
int status_of(int error);

}  // namespace nagaya::fmpl
