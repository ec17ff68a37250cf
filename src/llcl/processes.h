// SPDX-License-Identifier: BSD-3-Clause
// processes.h - the sets of nagaya/processes.h, as the upper floors take them.
#pragma once

#include <memory>

#include "nagaya/processes.h"
#include "processes/process_set.h"

// Immutable. Those who were given a set keep a pointer to it.
struct nagaya_processes {
  std::shared_ptr<const nagaya::processes::ProcessSet> set;
  bool is_outside_of_spaces;
};
