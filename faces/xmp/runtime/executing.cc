// SPDX-License-Identifier: BSD-3-Clause
// executing.cc - the task directive.
#include "faces/xmp/runtime/executing.h"

#include <string>

#include "faces/xmp/runtime/coarrays.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/reference.h"
#include "faces/xmp/runtime/translated.h"

namespace nagaya::xmp {
namespace {

// Returns the sets of the task directives that the caller is inside, innermost last.
std::vector<ProcessSet*>& entered() {
  static auto* const all = new std::vector<ProcessSet*>;
  return *all;
}

}  // namespace

ProcessSet& Executing::now() {
  return entered().empty() ? ProcessSet::world() : *entered().back();
}

void Executing::enter(ProcessSet& set) {
  entered().push_back(&set);
  forget_images();
}

void Executing::leave() {
  entered().pop_back();
  forget_images();
}

void check_executing(const char* where, const char* what, const ProcessSet& set) {
  if (!Executing::now().contains(set))
    fail(where, what + std::string(" is on nodes that do not execute this: write it outside of the "
                                   "task that it is in, or make that one larger"));
}

}  // namespace nagaya::xmp

using nagaya::xmp::Executing;
using nagaya::xmp::ProcessSet;

int nagaya_xmp_enter_task(const char* where, const nagaya_xmp_on* on, int) {
  ProcessSet* const set = nagaya::xmp::set_of(where, on);
  if (set == nullptr) return 0;
  nagaya::xmp::check_executing(where, "the task", *set);
  if (!set->has_caller()) return 0;
  Executing::enter(*set);
  return 1;
}

void nagaya_xmp_leave_task(int* entered) {
  if (*entered == 0) return;
  *entered = 0;
  Executing::leave();
}
