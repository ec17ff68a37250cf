// SPDX-License-Identifier: BSD-3-Clause
// share.h - which of a reduction's elements a member works on.
#pragma once

#include "nagaya/coll.h"

namespace nagaya::coll {

struct Share {
  size_t first, count;  // elements
};

inline Share equal_share(size_t count, uint32_t part, uint32_t parts) {
  const size_t first = count * part / parts;
  return {first, count * (part + 1) / parts - first};
}

// About equal parts; of REDUCE_SCATTER those that the caller says.
inline Share share_of(const nagaya_elements& elements, uint32_t rank, uint32_t size) {
  if (elements.count_of == nullptr) return equal_share(elements.count, rank, size);
  size_t first = 0;
  for (uint32_t n = 0; n < rank; ++n) first += elements.count_of[n];
  return {first, elements.count_of[rank]};
}

}  // namespace nagaya::coll
