// SPDX-License-Identifier: BSD-3-Clause
// batch_runs.h - blocks of equal size, here and there: how kPutPieces and kGetPieces name them in a
// record, and how they are copied.
//
//   | Run 24 | Run 24 | ... | kPutPieces: the blocks, one behind the other |
//
//   offset ─► [block]...[block]...[block]     count = 3, from begin to begin: stride, also below 0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "llcl/pieces.h"

namespace nagaya::delegatee {

struct Run {
  uint64_t offset;  // of the first block in the region
  uint32_t block_bytes;
  uint32_t count;
  int64_t stride;

  uint64_t bytes() const { return uint64_t{block_bytes} * count; }
};
static_assert(sizeof(Run) == 24);

// Both return where the next run's blocks are in `packed`.
inline std::byte* gather_blocks(std::byte* packed, const std::byte* first, const Run& run,
                                int64_t stride) {
  llcl::copy_parts({packed, run.block_bytes, run.count},
                   {const_cast<std::byte*>(first), stride, run.count}, run.count, run.block_bytes);
  return packed + run.bytes();
}
inline const std::byte* scatter_blocks(const std::byte* packed, std::byte* first, const Run& run,
                                       int64_t stride) {
  llcl::copy_parts({first, stride, run.count},
                   {const_cast<std::byte*>(packed), run.block_bytes, run.count}, run.count,
                   run.block_bytes);
  return packed + run.bytes();
}

// The runs at the begin of a record's payload.
class Runs {
 public:
  Runs(std::span<const std::byte> payload, size_t count) : payload_(payload), count_(count) {}

  // Of all blocks. Nothing: the runs are not there, one of them is empty, or it is more than
  // `most`.
  std::optional<uint64_t> bytes(uint64_t most) const {
    if (payload_.size() / sizeof(Run) < count_) return std::nullopt;
    uint64_t sum = 0;
    for (size_t n = 0; n < count_; ++n) {
      const uint64_t bytes = (*this)[n].bytes();
      if (bytes == 0 || bytes > most - sum) return std::nullopt;
      sum += bytes;
    }
    return sum;
  }
  // After bytes().
  bool lie_in(uint64_t region_bytes) const {
    for (size_t n = 0; n < count_; ++n) {
      const Run run = (*this)[n];
      const llcl::Piece piece{0, run.offset, run.block_bytes, run.count, 0, run.stride};
      llcl::Span span;
      if (!remote_span(piece, 0, &span) || span.first + span.bytes > region_bytes) return false;
    }
    return true;
  }
  std::span<const std::byte> behind() const { return payload_.subspan(count_ * sizeof(Run)); }

  size_t count() const { return count_; }
  Run operator[](size_t n) const {
    Run run;
    std::memcpy(&run, payload_.data() + n * sizeof run, sizeof run);
    return run;
  }

 private:
  std::span<const std::byte> payload_;
  size_t count_;
};

}  // namespace nagaya::delegatee
