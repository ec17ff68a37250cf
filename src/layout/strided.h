// SPDX-License-Identifier: BSD-3-Clause
// strided.h - a box of an array in memory, and its copy to a box of the same extents elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nagaya::layout {

// One dimension of a box.
struct Side {
  int64_t count;
  ptrdiff_t to_stride, from_stride;  // from one index to the next                [bytes]
};

// Combines elements, for example adds them: inout[n] = in[n] op inout[n] for n < count. `context`
// is a null pointer.
using Combine = void(void* context, const void* in, void* inout, size_t count);

// Runs of bytes that are contiguous on both sides, in nested loops.
class StridedCopy {
 public:
  // `sides`: the outermost dimension first; none has count 0. `combine`: copy() and unpack_to()
  // combine the elements of the two sides instead of copying; nullptr: they copy. May throw
  // std::bad_alloc.
  StridedCopy(size_t element_bytes, std::span<const Side> sides, Combine* combine = nullptr);

  size_t bytes() const { return bytes_; }
  bool is_one_run() const { return loops_.empty(); }
  bool combines() const { return combine_ != nullptr; }
  // The sides do not overlap.
  void copy(std::byte* to, const std::byte* from) const noexcept;
  // Copy between the strided memory of one side and one contiguous run.
  void pack_from(std::byte* run, const std::byte* from) const noexcept;
  void unpack_to(std::byte* to, const std::byte* run) const noexcept;

 private:
  struct Loop : Side {
    ptrdiff_t packed_stride;  // in one run                                       [bytes]
  };
  using Stride = ptrdiff_t Loop::*;

  static void copy_loops(std::span<const Loop> loops, std::byte* to, Stride to_stride,
                         const std::byte* from, Stride from_stride, size_t run_bytes);
  void copy(std::byte* to, Stride to_stride, const std::byte* from, Stride from_stride) const;
  void combine(std::span<const Loop> loops, std::byte* to, const std::byte* from,
               Stride from_stride) const;
  // Moves the elements to the box at `to`: copies or combines them.
  void move(std::byte* to, const std::byte* from, Stride from_stride) const;

  size_t element_bytes_, bytes_, run_bytes_;
  Combine* combine_;
  std::vector<Loop> loops_;  // the innermost first
};

}  // namespace nagaya::layout
