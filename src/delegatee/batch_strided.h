// SPDX-License-Identifier: BSD-3-Clause
// batch_strided.h - strided blocks: the list of them that a record of pieces or of an accumulate
// carries, and how they are copied.
//
//   | Strided 24 | Strided 24 | ... | the blocks, one behind the other, if they are sent |
//
//   offset ─► [block]...[block]...[block]     count = 3
//             ◄─stride─►                      from begin to begin, may be negative
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "layout/pieces.h"
#include "layout/runs.h"

namespace nagaya::delegatee {

struct Strided {
  uint64_t offset;  // of the first block in the region
  uint32_t block_bytes;
  uint32_t count;
  int64_t stride;

  uint64_t bytes() const { return uint64_t{block_bytes} * count; }
};
static_assert(sizeof(Strided) == 24);

// gather_blocks() copies an entry's blocks into `packed`, scatter_blocks() copies them back. Both
// return where the next entry's blocks are in `packed`.
inline std::byte* gather_blocks(std::byte* packed, const std::byte* first, const Strided& entry,
                                int64_t stride) {
  layout::copy_parts({packed, entry.block_bytes, entry.count},
                     {const_cast<std::byte*>(first), stride, entry.count}, entry.count,
                     entry.block_bytes);
  return packed + entry.bytes();
}
inline const std::byte* scatter_blocks(const std::byte* packed, std::byte* first,
                                       const Strided& entry, int64_t stride) {
  layout::copy_parts({first, stride, entry.count},
                     {const_cast<std::byte*>(packed), entry.block_bytes, entry.count}, entry.count,
                     entry.block_bytes);
  return packed + entry.bytes();
}

// The list at the begin of a record's payload.
class StridedList {
 public:
  StridedList(std::span<const std::byte> payload, size_t count)
      : payload_(payload), count_(count) {}

  // Returns the sum of all blocks [bytes]; nothing if the payload is too short for the entries, one
  // of them is empty, or the sum is more than `most`.
  std::optional<uint64_t> bytes(uint64_t most) const {
    if (payload_.size() / sizeof(Strided) < count_) return std::nullopt;
    uint64_t sum = 0;
    for (size_t n = 0; n < count_; ++n) {
      const uint64_t bytes = (*this)[n].bytes();
      if (bytes == 0 || bytes > most - sum) return std::nullopt;
      sum += bytes;
    }
    return sum;
  }
  // True if all blocks consist of whole elements of this size.
  bool have_whole(uint64_t element_bytes) const {
    for (size_t n = 0; n < count_; ++n)
      if ((*this)[n].block_bytes % element_bytes != 0) return false;
    return true;
  }
  // True if all blocks lie in a region of this size. Call it after bytes() has returned a sum.
  bool lie_in(uint64_t region_bytes) const {
    for (size_t n = 0; n < count_; ++n) {
      const Strided entry = (*this)[n];
      const layout::Piece piece{0, entry.offset, entry.block_bytes, entry.count, 0, entry.stride};
      layout::Span span;
      if (!remote_span(piece, 0, &span) || span.first + span.bytes > region_bytes) return false;
    }
    return true;
  }
  std::span<const std::byte> behind() const { return payload_.subspan(count_ * sizeof(Strided)); }

  size_t count() const { return count_; }
  Strided operator[](size_t n) const {
    Strided entry;
    std::memcpy(&entry, payload_.data() + n * sizeof entry, sizeof entry);
    return entry;
  }

 private:
  std::span<const std::byte> payload_;
  size_t count_;
};

}  // namespace nagaya::delegatee
