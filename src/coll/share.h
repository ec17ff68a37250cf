// SPDX-License-Identifier: BSD-3-Clause
// share.h - which of a reduction's elements a member works on.
#pragma once

#include "nagaya/coll.h"

namespace nagaya::coll {

struct Share {
  size_t first, count;  // elements
};

// About equal parts; of REDUCE_SCATTER those that the caller says.
inline Share share_of(const nagaya_elements& elements, uint32_t rank, uint32_t size) {
  if (elements.count_of == nullptr) {
    const size_t first = elements.count * rank / size;
    return {first, elements.count * (rank + 1) / size - first};
  }
  size_t first = 0;
  for (uint32_t n = 0; n < rank; ++n) first += elements.count_of[n];
  return {first, elements.count_of[rank]};
}

}  // namespace nagaya::coll
