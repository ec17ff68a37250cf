// SPDX-License-Identifier: BSD-3-Clause
// executing.h - the executing nodes: all of the job, and in a task those that it is on.
#pragma once

#include "faces/xmp/runtime/process_set.h"

namespace nagaya::xmp {

class Executing {
 public:
  static ProcessSet& now();
  static void enter(ProcessSet& set);
  static void leave();
  static bool is_in_task() { return &now() != &ProcessSet::world(); }
};

// The program fails unless all of the set execute this. `where`: as fail() has it. `what`: "the
// barrier".
void check_executing(const char* where, const char* what, const ProcessSet& set);

}  // namespace nagaya::xmp
