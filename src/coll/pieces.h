// SPDX-License-Identifier: BSD-3-Clause
// pieces.h - a member's elements in contiguous memory or in runs (layout/runs.h).
#pragma once

#include <algorithm>

#include "coll/line.h"
#include "layout/runs.h"

namespace nagaya::coll {

// The elements of one member's buffer.
struct Pieces {
  std::byte* base;
  const nagaya_runs* runs;  // used in place of `base`, whole elements each; nullptr: contiguous
  size_t extent;            // of an element                                         [bytes]

  // Visits `count` elements from element `first` on, by one call each(memory, number, count) per
  // contiguous piece; `number`: index of the piece's first element, counted from `first`.
  template <class Each>
  void for_each(size_t first, size_t count, Each each) const {
    if (runs == nullptr)
      return each(base + static_cast<ptrdiff_t>(first * extent), size_t{0}, count);
    layout::Walk walk = layout::Walk(runs).advanced_by(first * extent);
    for (size_t number = 0; number < count;) {
      const size_t some = std::min(count - number, walk.left_in_run() / extent);
      each(walk.at(), number, some);
      number += some;
      walk.advance(some * extent);
    }
  }
};

}  // namespace nagaya::coll
