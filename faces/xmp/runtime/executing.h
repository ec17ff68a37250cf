// SPDX-License-Identifier: BSD-3-Clause
// executing.h - the executing nodes: all processes of the job or, inside a task directive, the
// processes of its on clause.
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

// The program fails unless the executing nodes contain the whole set. `where`: the place, for
// fail(). `what`: the directive, for the message: "the barrier".
void check_executing(const char* where, const char* what, const ProcessSet& set);

}  // namespace nagaya::xmp
