// SPDX-License-Identifier: BSD-3-Clause
// range.h - a part of the printed text, by offsets.
#pragma once

#include <cstddef>

namespace nagaya::xmp {

struct Range {
  size_t begin = 0, end = 0;  // end: behind the last character
  bool is_empty() const { return begin == end; }
  bool contains(size_t offset) const { return begin <= offset && offset < end; }
  bool contains(const Range& inner) const { return begin <= inner.begin && inner.end <= end; }
};

}  // namespace nagaya::xmp
