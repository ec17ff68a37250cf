// SPDX-License-Identifier: BSD-3-Clause
// reductions.h - the loops of nagaya/reduction.h: one for each operation that is defined for an
// element type. It knows no tasks and no MPI.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "nagaya/reduction.h"
#include "reduction/items.h"

namespace nagaya::reduction {

inline constexpr size_t kElementTypes = NAGAYA_ELEMENT_DOUBLE_DOUBLE + 1;
inline constexpr size_t kReductions = NAGAYA_REDUCE_NO_OP + 1;

// Elements that are not a number of C or a Complex of two.
struct Byte {
  uint8_t bits;
};
template <class Integer>
struct Logical {
  Integer value;  // 0: false. Compilers of Fortran differ in what is true.
};
template <class Value, class Index>
struct Located {
  Value value;
  Index index;
};

// inout[n] = in[n] op inout[n], as in nagaya_elements (coll.h). The two do not overlap. Elements
// need no alignment; nothing but their values is written.
using Reduce = void(void* context, const void* in, void* inout, size_t count);
// to[n] = from[n]
using Copy = void(void* context, void* to, const void* from, size_t count);

struct Elements {
  std::array<Reduce*, kReductions> reduce;  // nullptr: not defined
  size_t extent, true_extent;  // from one to the next, without a gap at the end [bytes]
  Copy* copy;                  // of elements with gaps; nullptr: they have none

  // `extent` is a power of two: a division takes longer than an accumulate of one element.
  size_t count_in(size_t bytes) const { return bytes >> std::countr_zero(extent); }
  bool has_rest(size_t bytes) const { return (bytes & (extent - 1)) != 0; }
};

// `type` is an enumerator.
const Elements& elements_of(nagaya_element_type type);

// Returns whether both are enumerators, and the operation is defined for the type.
inline bool is_defined(uint64_t type, uint64_t operation) {
  return type < kElementTypes && operation < kReductions &&
         elements_of(static_cast<nagaya_element_type>(type)).reduce[operation] != nullptr;
}

}  // namespace nagaya::reduction
