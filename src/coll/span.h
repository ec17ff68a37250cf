// SPDX-License-Identifier: BSD-3-Clause
// span.h - computes how much memory the elements of a reduction take, and where in it they begin.
// Elements may have gaps, overlap, or lie backwards (MPI's negative extents).
#pragma once

#include <algorithm>
#include <cstdlib>

#include "nagaya/coll.h"

namespace nagaya::coll {

// Distance from one element to the next, without its sign.                           [bytes]
inline size_t distance_of(const nagaya_elements& elements) {
  return static_cast<size_t>(std::abs(static_cast<ptrdiff_t>(elements.extent)));
}

// The memory from the lowest byte of all elements to the highest.
struct Span {
  ptrdiff_t first;  // lowest byte, relative to the first element's address        [bytes]
  size_t bytes;
};

inline Span span_of(const nagaya_elements& elements, size_t count) {
  if (elements.copy == nullptr || count == 0) return {0, count * elements.extent};
  const auto to_last = static_cast<ptrdiff_t>((count - 1) * elements.extent);
  return {elements.true_lb + std::min<ptrdiff_t>(to_last, 0),
          static_cast<size_t>(std::abs(to_last)) + elements.true_extent};
}

// The layout of a buffer for elements that begins at a multiple of 16. The first element's address
// is a multiple of 16, too, as in malloc's memory, whatever bytes lie below it.
struct BufferLayout {
  ptrdiff_t first;  // first element's address, relative to the buffer's beginning [bytes]
  size_t bytes;
};

inline BufferLayout buffer_layout_of(const nagaya_elements& elements, size_t count) {
  const Span span = span_of(elements, count);
  const size_t misalignment = static_cast<size_t>(span.first) % 16;
  return {static_cast<ptrdiff_t>(misalignment) - span.first,
          (misalignment + span.bytes + 15) / 16 * 16};
}

}  // namespace nagaya::coll
