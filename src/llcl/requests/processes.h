// SPDX-License-Identifier: BSD-3-Clause
// processes.h - the sets of nagaya/processes.h, as the upper floors take them.
#pragma once

#include <memory>

#include "llcl/requests/endpoint.h"
#include "nagaya/processes.h"
#include "processes/process_set.h"

namespace nagaya::llcl {

// Where the task finds and makes tables of sets of processes. They outlive the task that makes
// them: others may have found them.
inline processes::TableStore tables_of(const Endpoint& endpoint) {
  return {endpoint.board().tables, processes::lasting_memory_of(endpoint.record())};
}

}  // namespace nagaya::llcl

// Immutable. A team, window, array or the like that is opened on it holds the set, too.
struct nagaya_processes {
  std::shared_ptr<const nagaya::processes::ProcessSet> set;
  bool is_outside_of_spaces;
};
