// SPDX-License-Identifier: BSD-3-Clause
#include "array/strided.h"

#include <cstring>

#include "llcl/layout.h"

namespace nagaya::array {
namespace {

void copy_loops(std::span<const Side> loops, std::byte* to, const std::byte* from,
                size_t run_bytes) {
  const Side& outer = loops.back();
  if (loops.size() == 1) {
    const auto count = static_cast<size_t>(outer.count);
    return llcl::copy_parts({to, outer.to_stride, count},
                            {const_cast<std::byte*>(from), outer.from_stride, count}, count,
                            run_bytes);
  }
  for (int64_t n = 0; n < outer.count; ++n)
    copy_loops(loops.first(loops.size() - 1), to + n * outer.to_stride,
               from + n * outer.from_stride, run_bytes);
}

// The same loops with one side packed.
std::vector<Side> packed(std::vector<Side> loops, size_t run_bytes, ptrdiff_t Side::*stride) {
  auto bytes = static_cast<ptrdiff_t>(run_bytes);
  for (Side& loop : loops) {
    loop.*stride = bytes;
    bytes *= loop.count;
  }
  return loops;
}

}  // namespace

StridedCopy::StridedCopy(size_t element_bytes, std::span<const Side> sides)
    : bytes_(element_bytes), run_bytes_(element_bytes) {
  for (size_t n = sides.size(); n-- != 0;) {
    const Side& side = sides[n];
    bytes_ *= static_cast<size_t>(side.count);
    if (side.count == 1) continue;
    const ptrdiff_t to_end = loops_.empty() ? static_cast<ptrdiff_t>(run_bytes_)
                                            : loops_.back().to_stride * loops_.back().count;
    const ptrdiff_t from_end = loops_.empty() ? static_cast<ptrdiff_t>(run_bytes_)
                                              : loops_.back().from_stride * loops_.back().count;
    if (side.to_stride != to_end || side.from_stride != from_end)
      loops_.push_back(side);
    else if (loops_.empty())
      run_bytes_ *= static_cast<size_t>(side.count);
    else
      loops_.back().count *= side.count;
  }
}

void StridedCopy::copy(std::byte* to, const std::byte* from) const {
  if (is_one_run())
    std::memcpy(to, from, run_bytes_);
  else
    copy_loops(loops_, to, from, run_bytes_);
}

void StridedCopy::pack_from(std::byte* run, const std::byte* from) const {
  if (is_one_run()) return static_cast<void>(std::memcpy(run, from, run_bytes_));
  copy_loops(packed(loops_, run_bytes_, &Side::to_stride), run, from, run_bytes_);
}

void StridedCopy::unpack_to(std::byte* to, const std::byte* run) const {
  if (is_one_run()) return static_cast<void>(std::memcpy(to, run, run_bytes_));
  copy_loops(packed(loops_, run_bytes_, &Side::from_stride), to, run, run_bytes_);
}

}  // namespace nagaya::array
