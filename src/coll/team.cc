// SPDX-License-Identifier: BSD-3-Clause
#include "coll/team.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace nagaya::coll {

uint64_t Team::find_slowest() {
  uint64_t slowest = UINT64_MAX;
  for (uint32_t rank = 0; rank < size(); ++rank)
    // Acquire: pairs with leave().
    slowest = std::min(slowest, part(rank).done.load(std::memory_order_acquire));
  return slowest_ = slowest;
}

// At most kAhead are under way, so each has a bit.
void Team::leave(uint64_t number, bool is_awaited) {
  mailbox::Machine::step(mailbox::StopPoint::kLineLeft);
  left_early_ |= uint64_t{1} << (number - left_);
  const int count = std::countr_one(left_early_);
  if (count == 0) return;
  left_early_ >>= count;
  left_ += static_cast<uint64_t>(count);
  // Release: what was read of others was read before they change it. Pairs with has_left(),
  // find_slowest().
  part(rank_).done.store(left_, std::memory_order_release);
  is_awaited ? group_.wake() : group_.wake_soon();
}

std::byte* Team::buffer(uint64_t number, size_t bytes) {
  std::byte*& buffer = part(rank_).buffers[number % kAhead];
  size_t& known_bytes = buffer_bytes_[number % kAhead];
  if (known_bytes >= bytes) return buffer;
  if (buffer != nullptr) group_.free(std::exchange(buffer, nullptr));
  known_bytes = std::bit_ceil(std::max<size_t>(bytes, 256));
  buffer = static_cast<std::byte*>(group_.allocate(known_bytes));
  if (buffer == nullptr) known_bytes = 0;
  return buffer;
}

void Team::free_buffers(llcl::Group& group) {
  for (uint32_t rank = 0; rank < group.members().size(); ++rank)
    for (std::byte* const buffer : reinterpret_cast<Part*>(group.part(rank))->buffers)
      if (buffer != nullptr) group.free(buffer);
}

}  // namespace nagaya::coll
