// SPDX-License-Identifier: BSD-3-Clause
// share.h - computes which elements of which ranks a member combines, or has in its result.
#pragma once

#include "nagaya/coll.h"

namespace nagaya::coll {

struct Share {
  size_t first, count;  // elements
};

// Returns part number `part` of `count` elements that are split into `parts` about equal parts.
inline Share equal_share(size_t count, uint32_t part, uint32_t parts) {
  const size_t first = count * part / parts;
  return {first, count * (part + 1) / parts - first};
}

// Returns the share of `rank`: the caller's `count_of` (REDUCE_SCATTER), else about equal shares.
inline Share share_of(const nagaya_elements& elements, uint32_t rank, uint32_t size) {
  if (elements.count_of == nullptr) return equal_share(elements.count, rank, size);
  size_t first = 0;
  for (uint32_t n = 0; n < rank; ++n) first += elements.count_of[n];
  return {first, elements.count_of[rank]};
}

// Returns the elements that the result of `rank` consists of.
inline Share result_of(const nagaya_collective& what, uint32_t rank, uint32_t size) {
  return what.kind == NAGAYA_REDUCE_SCATTER ? share_of(what.elements, rank, size)
                                            : Share{0, what.elements.count};
}

// Returns how many ranks, from rank 0 on, contribute to the result of `rank`; 0: it has no result.
inline uint32_t count_contributors(const nagaya_collective& what, uint32_t rank, uint32_t size) {
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
