// SPDX-License-Identifier: BSD-3-Clause
// target_elements.h - where in a region the target's elements of an accumulate lie, cut into
// strided parts of whole elements.
//
//   runs    | 0 1 2 | ... | 3 4 5 | ... | 6 7       the last run is used in part
//   parts     2 blocks of 3 elements      1 block of 2
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "layout/pieces.h"
#include "nagaya/llcl.h"

namespace nagaya::llcl {

struct TargetElements {
  struct Part {
    uint64_t offset;  // of the first block in the region
    uint64_t block_bytes, count;
    int64_t stride;

    uint64_t bytes() const { return block_bytes * count; }
    // The memory from its lowest byte to its highest.
    layout::Span span() const {
      layout::Span span;
      span_of({0, 0, block_bytes, count, 0, 0}, offset, stride, &span);  // cut() has checked it
      return span;
    }
  };

  const nagaya_runs* runs;  // nullptr: the elements lie side by side
  uint64_t offset;          // in the region, of the first element; the runs count from here
  uint64_t extent;          // of an element [bytes]
  uint64_t bytes;           // of all elements

  // Cuts off the part at the cursor, behind which `left` bytes are left (not 0), and moves the
  // cursor behind the part. `room`: most bytes of the part, at least an element. The runs are read
  // once, and may be nonsense. Returns 0; -EINVAL: a run is empty or not of whole elements, or
  // leaves 64 bits.
  int cut(uint64_t left, uint64_t room, layout::PieceCursor& at, Part* out) const {
    layout::Piece run;
    if (!read(at.piece, &run) || run.block_bytes % extent != 0 || at.block >= run.count ||
        at.byte >= run.block_bytes)
      return -EINVAL;
    // Runs behind the last element may lie anywhere.
    const uint64_t from_block = at.byte + left;
    run.block_bytes = std::min(run.block_bytes, from_block);
    const uint64_t blocks = from_block / run.block_bytes + (from_block % run.block_bytes != 0);
    run.count = std::min(run.count, at.block + blocks);
    layout::Span span;
    if (!remote_span(run, 0, &span)) return -EINVAL;
    const uint64_t most = std::min(room, left);
    const layout::PiecePart part = layout::cut_part(run, 0, most - most % extent, at);
    *out = {part.offset, part.bytes, part.count, run.remote_stride};
    return 0;
  }

 private:
  // Reads run `n`, whose offset then counts from the region's begin. False: it lies below that.
  bool read(uint64_t n, layout::Piece* out) const {
    nagaya_runs run{nullptr, bytes, 1, 0};
    if (runs != nullptr) std::memcpy(&run, runs + n, sizeof run);
    *out = {0, 0, run.bytes, run.count, 0, run.stride};
    return !__builtin_add_overflow(offset, reinterpret_cast<int64_t>(run.first), &out->offset);
  }
};

}  // namespace nagaya::llcl
