// SPDX-License-Identifier: BSD-3-Clause
// pieces.h - elements of a member that may lie in runs of memory.
#pragma once

#include <algorithm>

#include "coll/line.h"
#include "layout/runs.h"

namespace nagaya::coll {

// A member's elements.
struct Pieces {
  std::byte* base;
  const nagaya_runs* runs;  // in place of `base`, of whole elements each; nullptr: there are none
  size_t extent;            // of an element                                         [bytes]

  // Calls each(memory, number, count) for `count` elements from `first` on, as many at a time as
  // follow each other in memory; `number`: of the piece's first element, from 0.
  template <class Each>
  void for_each(size_t first, size_t count, Each each) const {
    if (runs == nullptr)
      return each(base + static_cast<ptrdiff_t>(first * extent), size_t{0}, count);
    layout::Walk walk = layout::Walk(runs).ahead(first * extent);
    for (size_t number = 0; number < count;) {
      const size_t some = std::min(count - number, walk.left_in_run() / extent);
      each(walk.at(), number, some);
      number += some;
      walk.advance(some * extent);
    }
  }
};

}  // namespace nagaya::coll
