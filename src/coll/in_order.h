// SPDX-License-Identifier: BSD-3-Clause
// in_order.h - combines elements (without gaps) of several members in the members' order.
#pragma once

#include <cstddef>
#include <cstring>

#include "nagaya/coll.h"

namespace nagaya::coll {

// to = from(0) op ... from(members - 1) op to, for `count` elements.
template <class From>
void combine_in_front(const nagaya_elements& elements, uint32_t members, From from, std::byte* to,
                      size_t count) {
  while (members-- > 0) elements.reduce(elements.context, from(members), to, count);
}

// to = from(0) op from(1) op ... from(members - 1), for `count` elements.
template <class From>
void combine(const nagaya_elements& elements, uint32_t members, From from, std::byte* to,
             size_t count) {
  std::memcpy(to, from(members - 1), count * elements.extent);
  combine_in_front(elements, members - 1, from, to, count);
}

}  // namespace nagaya::coll
