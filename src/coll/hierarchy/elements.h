// SPDX-License-Identifier: BSD-3-Clause
// elements.h - handles a reduction's elements, with their gaps, in memory: finds their addresses,
// copies and combines them.
#pragma once

#include "coll/span.h"
#include "layout/blocks.h"
#include "layout/bytes.h"

namespace nagaya::coll::hierarchy {

class Elements {
 public:
  explicit Elements(const nagaya_elements& what) : what_(what) {}

  bool have_gaps() const { return what_.copy != nullptr; }
  // Returns the address of element n.
  std::byte* at(void* base, size_t n) const {
    return static_cast<std::byte*>(base) + static_cast<ptrdiff_t>(n * what_.extent);
  }
  Span span(size_t count) const { return span_of(what_, count); }
  // Returns the memory of `count` elements from `base` on, gaps included, as a block.
  nagaya_blocks block_of(void* base, size_t count) const {
    return layout::equal_blocks(static_cast<std::byte*>(base) + span(count).first,
                                span(count).bytes);
  }
  // Inverse of block_of(): returns the first element's address from the block's.
  const std::byte* first_element(const void* block, size_t count) const {
    return static_cast<const std::byte*>(block) - span(count).first;
  }

  // Size of a buffer for `count` elements, which are aligned there as in malloc's memory.  [bytes]
  size_t buffer_bytes(size_t count) const { return buffer_layout_of(what_, count).bytes; }
  // Returns the address of the first element in the n-th of several such buffers.
  std::byte* first_in_buffer(std::byte* buffers, uint32_t n, size_t count) const {
    return buffers + n * buffer_bytes(count) + buffer_layout_of(what_, count).first;
  }

  // inout[n] = in[n] op inout[n].
  void reduce(const std::byte* in, std::byte* inout, size_t count) const {
    if (count != 0) what_.reduce(what_.context, in, inout, count);
  }
  void copy(void* to, const void* from, size_t count) const {
    if (count == 0 || to == from) return;
    have_gaps() ? what_.copy(what_.context, to, from, count)
                : layout::copy_bytes(to, from, count * what_.extent);
  }

 private:
  const nagaya_elements& what_;
};

}  // namespace nagaya::coll::hierarchy
