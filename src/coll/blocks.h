// SPDX-License-Identifier: BSD-3-Clause
// blocks.h - the blocks that a member gives or gets.
#pragma once

#include <cstddef>

#include "nagaya/coll.h"

namespace nagaya::coll {

struct Block {
  std::byte* data;
  size_t bytes;
};

inline Block block_of(const nagaya_blocks& blocks, uint32_t n) {
  auto* const base = static_cast<std::byte*>(blocks.base);
  if (blocks.bytes_of != nullptr) return {base + blocks.offset_of[n], blocks.bytes_of[n]};
  return {base + static_cast<ptrdiff_t>(n) * blocks.stride, blocks.bytes};
}

// One behind the other; or each where it is listed.
inline nagaya_blocks equal_blocks(void* base, size_t bytes) {
  return {base, bytes, static_cast<ptrdiff_t>(bytes), nullptr, nullptr};
}
inline nagaya_blocks listed_blocks(void* base, const size_t* bytes_of, const ptrdiff_t* offset_of) {
  return {base, 0, 0, bytes_of, offset_of};
}

// With places of their own, blocks may be said from address 0 on.
inline bool has_none(const nagaya_blocks& blocks) {
  return blocks.base == nullptr && blocks.bytes_of == nullptr;
}

}  // namespace nagaya::coll
