// SPDX-License-Identifier: BSD-3-Clause
// ownership.h - which nodes have which elements of an array, for any distribution. Elements are
// numbered in the order of C: the last index runs fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "faces/xmp/runtime/arrays.h"

namespace nagaya::xmp {

class Ownership {
 public:
  // The array has blocks at all of its nodes, and the executing nodes contain these.
  explicit Ownership(const nagaya_xmp_array_state& array);

  const nagaya_xmp_array_state& array() const { return array_; }
  size_t dimensions() const { return array_.dimensions(); }
  long extent(size_t d) const { return array_.extents[d]; }
  int64_t elements() const { return elements_; }

  // The number of the element of these indexes, and back.
  int64_t number_of(const std::vector<long>& index) const;
  std::vector<long> index_of(int64_t number) const;

  bool has_number(int64_t number) const { return number >= 0 && number < elements_; }
  // Whether the array has an element of this number, and the caller has it.
  bool is_own(int64_t number) const;

  // Returns the executing node that has the element; of several copies the first one's.
  uint32_t owner(int64_t number) const;
  // Calls take(node) for each executing node that has a copy.
  void for_each_owner(int64_t number, const std::function<void(uint32_t)>& take) const;

  // Returns the caller's indexes in dimension d, ascending.
  const std::vector<long>& own_indexes(size_t d) const { return own_[d]; }
  // Whether the caller has the first copy of its elements. False also if it has none.
  bool has_first_copy() const { return has_first_copy_; }
  // Returns the address of an element that the caller has.
  std::byte* address_of(int64_t number) const;
  // Calls take(number, address) for each element that the caller has.
  void for_each_own(const std::function<void(int64_t, std::byte*)>& take) const;

 private:
  struct Dimension {
    int axis = -1;                       // of the nodes; -1: each node has all indexes
    nagaya_distribution distribution{};  // if there is an axis
    int64_t offset = 0;                  // index i is index i + offset of the distribution
    bool is_by_place = false;            // whether elements lie in the order of their places
    uint32_t node_stride = 0;            // between neighbours along the axis      [nodes]
    ptrdiff_t stride = 0;                // from an element to the next one        [bytes]
    int64_t first_own = 0;               // the place of the caller's first index

    uint32_t coordinate_of(int64_t index) const {
      return axis < 0 ? 0 : nagaya_distribution_coordinate(&distribution, index + offset);
    }
    int64_t position_of(int64_t index) const {
      return is_by_place ? nagaya_distribution_place(&distribution, index + offset) : index;
    }
  };

  Dimension dimension_of(size_t d, const std::vector<uint32_t>& strides) const;
  std::vector<long> find_own(size_t d);
  void find_copies(const std::vector<uint32_t>& strides);
  uint32_t first_node(int64_t number) const;

  const nagaya_xmp_array_state& array_;
  int64_t elements_ = 1;
  std::vector<Dimension> dimensions_;
  std::vector<std::vector<long>> own_;
  std::vector<uint32_t> copies_;     // what each copy adds to the number of the owner
  std::vector<uint32_t> executing_;  // the number among the executing nodes of each node
  bool has_first_copy_ = false;
};

}  // namespace nagaya::xmp
