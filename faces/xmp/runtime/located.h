// SPDX-License-Identifier: BSD-3-Clause
// located.h - a reduction to a maximum or minimum that also delivers location variables: values
// that the process had where the maximum or minimum was found.
//
//   element   | value, to 16 bytes | order, to 16 bytes | its part of each location |
//   order     | the iteration | place in the set |
//
// Each element is combined separately: the better one replaces the other together with its
// locations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "faces/xmp/runtime/reductions.h"
#include "faces/xmp/runtime/translated.h"
#include "nagaya/coll.h"

namespace nagaya::xmp {

class Located {
 public:
  // Packs the caller's elements. `place`: the caller's number in the set. The program fails if a
  // location's bytes are no multiple of `count`.
  Located(const char* where, nagaya_xmp_operation operation, nagaya_xmp_type type, void* data,
          size_t count, const nagaya_xmp_locations& locations, int64_t place);

  // Fills in the collective's buffers and operation. The object must not move until the collective
  // is complete.
  void describe(nagaya_collective& what);
  // Copies the results to the program's variables.
  void unpack();

 private:
  static constexpr size_t kPartBytes = 16;

  static void combine(void* located, const void* in, void* inout, size_t count);
  bool is_better(const std::byte* a, const std::byte* b) const;
  // Calls visit(address in `elements_`, address of the program's variable, bytes) for the value and
  // each location of each element.
  template <class Visit>
  void for_each_part(Visit visit);

  const bool wants_max_, wants_last_;
  Compare* const compare_;
  const size_t value_bytes_, count_;
  std::byte* const data_;
  const std::vector<nagaya_xmp_location> locations_;
  const size_t order_words_, order_bytes_;
  size_t element_bytes_;
  std::vector<std::byte> elements_;
};

}  // namespace nagaya::xmp
