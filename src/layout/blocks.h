// SPDX-License-Identifier: BSD-3-Clause
// blocks.h - the blocks of a buffer of a collective: one for each member, or one for all.
#pragma once

#include <cstddef>

#include "layout/runs.h"
#include "nagaya/coll.h"

namespace nagaya::layout {

inline const nagaya_runs* runs_of(const nagaya_blocks& blocks, uint32_t n) {
  return blocks.runs_of != nullptr ? blocks.runs_of[n] : blocks.runs;
}

inline Buffer block_of(const nagaya_blocks& blocks, uint32_t n) {
  auto* const base = static_cast<std::byte*>(blocks.base);
  const bool is_listed = blocks.bytes_of != nullptr;
  const ptrdiff_t offset =
      is_listed ? blocks.offset_of[n] : static_cast<ptrdiff_t>(n) * blocks.stride;
  const size_t bytes = is_listed ? blocks.bytes_of[n] : blocks.bytes;
  return {base + offset, bytes, runs_of(blocks, n), offset};
}

// Equal blocks, one behind the other; and blocks at listed offsets from `base`.
inline nagaya_blocks equal_blocks(void* base, size_t bytes) {
  return {base, bytes, static_cast<ptrdiff_t>(bytes), nullptr, nullptr, nullptr, nullptr};
}
inline nagaya_blocks listed_blocks(void* base, const size_t* bytes_of, const ptrdiff_t* offset_of) {
  return {base, 0, 0, bytes_of, offset_of, nullptr, nullptr};
}

inline bool has_runs(const nagaya_blocks& blocks) {
  return blocks.runs != nullptr || blocks.runs_of != nullptr;
}

// Whether all blocks are one run of bytes, one behind the other.
inline bool are_one_run(const nagaya_blocks& blocks) {
  return !has_runs(blocks) && blocks.bytes_of == nullptr &&
         blocks.stride == static_cast<ptrdiff_t>(blocks.bytes);
}

// Whether the member sends or receives nothing. (With listed offsets or runs, address 0 may be a
// real base.)
inline bool is_absent(const nagaya_blocks& blocks) {
  return blocks.base == nullptr && blocks.bytes_of == nullptr && !has_runs(blocks);
}

}  // namespace nagaya::layout
