// SPDX-License-Identifier: BSD-3-Clause
#include "area/spool.h"

#include <algorithm>

namespace nagaya::area {

bool Spool::set(void* memory, size_t bytes, uint64_t patience_us) {
  if (!is_empty()) return false;
  memory_ = static_cast<std::byte*>(memory);
  bytes_ = memory == nullptr ? 0 : bytes;
  patience_us_ = patience_us;
  return true;
}

std::byte* Spool::allocate(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);  // an empty message has an address of its own, too
  std::byte* block = memory_;
  for (const auto& [begin, size] : used_) {
    if (static_cast<size_t>(begin - block) >= bytes) break;
    block = begin + size;
  }
  if (static_cast<size_t>(memory_ + bytes_ - block) < bytes) return nullptr;
  used_.emplace(block, bytes);
  return block;
}

}  // namespace nagaya::area
