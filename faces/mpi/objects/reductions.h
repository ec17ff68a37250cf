// SPDX-License-Identifier: BSD-3-Clause
// reductions.h - MPI's predefined operations, by the C type of the items. No MPI has a part in it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "faces/items.h"

namespace nagaya::mpi {

enum class Rule : uint8_t {
  kMax,
  kMin,
  kSum,
  kProd,
  kLand,
  kBand,
  kLor,
  kBor,
  kLxor,
  kBxor,
  kMaxloc,
  kMinloc
};
inline constexpr size_t kRules = 12;

// What a datatype reduces, where that is not a number of C or a Complex of two.
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

// As in nagaya_elements.
using Reduce = void(void* context, const void* in, void* inout, size_t count);
using Copy = void(void* context, void* to, const void* from, size_t count);

struct Items {
  std::array<Reduce*, kRules> reduce;  // nullptr: MPI does not define it
  size_t extent, true_extent;          // [bytes]
  Copy* copy;                          // of items with gaps; nullptr: they have none
};

// Defined for those types only that reductions.cc lists.
template <class T>
const Items& items_of();

}  // namespace nagaya::mpi
