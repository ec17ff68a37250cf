// SPDX-License-Identifier: BSD-3-Clause
#include "layout/strided.h"

#include "layout/bytes.h"
#include "layout/runs.h"

namespace nagaya::layout {
StridedCopy::StridedCopy(size_t element_bytes, std::span<const Side> sides, Combine* combine)
    : element_bytes_(element_bytes),
      bytes_(element_bytes),
      run_bytes_(element_bytes),
      combine_(combine) {
  for (size_t n = sides.size(); n-- != 0;) {
    const Side& side = sides[n];
    bytes_ *= static_cast<size_t>(side.count);
    if (side.count == 1) continue;
    const ptrdiff_t to_end = loops_.empty() ? static_cast<ptrdiff_t>(run_bytes_)
                                            : loops_.back().to_stride * loops_.back().count;
    const ptrdiff_t from_end = loops_.empty() ? static_cast<ptrdiff_t>(run_bytes_)
                                              : loops_.back().from_stride * loops_.back().count;
    if (side.to_stride != to_end || side.from_stride != from_end)
      loops_.push_back({side, 0});
    else if (loops_.empty())
      run_bytes_ *= static_cast<size_t>(side.count);
    else
      loops_.back().count *= side.count;
  }
  auto packed_bytes = static_cast<ptrdiff_t>(run_bytes_);
  for (Loop& loop : loops_) {
    loop.packed_stride = packed_bytes;
    packed_bytes *= loop.count;
  }
}

void StridedCopy::copy_loops(std::span<const Loop> loops, std::byte* to, Stride to_stride,
                             const std::byte* from, Stride from_stride, size_t run_bytes) {
  const Loop& outer = loops.back();
  if (loops.size() == 1) {
    const auto count = static_cast<size_t>(outer.count);
    return copy_parts({to, outer.*to_stride, count},
                      {const_cast<std::byte*>(from), outer.*from_stride, count}, count, run_bytes);
  }
  for (int64_t n = 0; n < outer.count; ++n)
    copy_loops(loops.first(loops.size() - 1), to + n * outer.*to_stride, to_stride,
               from + n * outer.*from_stride, from_stride, run_bytes);
}

void StridedCopy::copy(std::byte* to, Stride to_stride, const std::byte* from,
                       Stride from_stride) const {
  if (is_one_run())
    copy_bytes(to, from, run_bytes_);
  else
    copy_loops(loops_, to, to_stride, from, from_stride, run_bytes_);
}

void StridedCopy::combine(std::span<const Loop> loops, std::byte* to, const std::byte* from,
                          Stride from_stride) const {
  if (loops.empty()) return combine_(nullptr, from, to, run_bytes_ / element_bytes_);
  const Loop& outer = loops.back();
  for (int64_t n = 0; n < outer.count; ++n)
    combine(loops.first(loops.size() - 1), to + n * outer.to_stride, from + n * outer.*from_stride,
            from_stride);
}

void StridedCopy::move(std::byte* to, const std::byte* from, Stride from_stride) const {
  if (combines())
    combine(loops_, to, from, from_stride);
  else
    copy(to, &Loop::to_stride, from, from_stride);
}

void StridedCopy::copy(std::byte* to, const std::byte* from) const noexcept {
  move(to, from, &Loop::from_stride);
}

void StridedCopy::pack_from(std::byte* run, const std::byte* from) const noexcept {
  copy(run, &Loop::packed_stride, from, &Loop::from_stride);
}

void StridedCopy::unpack_to(std::byte* to, const std::byte* run) const noexcept {
  move(to, run, &Loop::packed_stride);
}

}  // namespace nagaya::layout
