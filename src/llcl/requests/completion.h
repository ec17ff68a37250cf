// SPDX-License-Identifier: BSD-3-Clause
// completion.h - completes a request within the task that made it, in the way that its Completion
// (command.h) names.
#pragma once

#include "llcl/board/command.h"
#include "nagaya/llcl.h"

namespace nagaya::llcl {

inline void complete(const nagaya_completion& on_complete, int error) {
  switch (static_cast<Completion>(on_complete.kind)) {
    case Completion::kNone:
      return;
    case Completion::kFlag:
      return complete_flag(static_cast<uint32_t*>(on_complete.data), error);
    case Completion::kCounter:
      return count_completions(static_cast<uint64_t*>(on_complete.data), 1, error != 0);
    case Completion::kCallback:
      return on_complete.function(on_complete.data, error);
  }
}

}  // namespace nagaya::llcl
