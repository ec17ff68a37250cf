// SPDX-License-Identifier: BSD-3-Clause
// pending_reflects.h - a task's pending reflects and reductions of shadows: started, and not
// complete at once. Every wait of the task advances them.
#pragma once

#include <span>
#include <vector>

#include "array/array.h"
#include "llcl/requests/pending_work.h"

namespace nagaya::array {

class PendingReflects : public llcl::PendingWork<PendingReflects> {
 public:
  // Starts a reflect or a reduction and advances it once. Returns as Array::start_reflect(), or
  // -ENOSPC. May throw std::bad_alloc: then nothing has happened.
  int start(Array& array, std::span<const nagaya_array_width> widths, bool orthogonal,
            layout::Combine* combine);
  int advance();

 private:
  friend PendingWork;
  using PendingWork::PendingWork;

  std::vector<Array*> arrays_;  // the lock protects their reflects, too
};

}  // namespace nagaya::array
