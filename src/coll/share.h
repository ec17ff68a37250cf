// SPDX-License-Identifier: BSD-3-Clause
// share.h - which elements of which ranks a member works on, or has in its result.
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

// Which elements the result of a rank has.
inline Share result_of(const nagaya_collective& what, uint32_t rank, uint32_t size) {
  return what.kind == NAGAYA_REDUCE_SCATTER ? share_of(what.elements, rank, size)
                                            : Share{0, what.elements.count};
}

// How many ranks' elements it has, from rank 0 on.
inline uint32_t contributors(const nagaya_collective& what, uint32_t rank, uint32_t size) {
  switch (what.kind) {
    case NAGAYA_SCAN:
      return rank + 1;
    case NAGAYA_EXSCAN:
      return rank;
    case NAGAYA_REDUCE:
      return rank == what.root ? size : 0;
    default:
      return size;
  }
}

}  // namespace nagaya::coll
