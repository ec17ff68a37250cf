// SPDX-License-Identifier: BSD-3-Clause
// known_sets.h - the sets that the last references to nodes or a template have meant: a program
// repeats them.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "faces/xmp/runtime/process_set.h"
#include "faces/xmp/runtime/translated.h"

namespace nagaya::xmp {

class KnownSets {
 public:
  using Subscripts = std::span<const nagaya_xmp_subscript>;

  // Nothing: it is not known. nullptr is a set's answer, too (reference.h).
  std::optional<ProcessSet*> find(Subscripts subscripts) const {
    for (const Known& one : all_)
      if (one.dimensions == subscripts.size() &&
          std::equal(subscripts.begin(), subscripts.end(), one.subscripts.begin(), are_same))
        return one.set;
    return std::nullopt;
  }
  // In place of the one that has been here for longest.
  void add(Subscripts subscripts, ProcessSet* set) {
    Known& one = all_[next_++ % all_.size()];
    one.dimensions = subscripts.size();
    std::copy(subscripts.begin(), subscripts.end(), one.subscripts.begin());
    one.set = set;
  }

 private:
  struct Known {
    size_t dimensions = 0;  // none: it is free
    std::array<nagaya_xmp_subscript, 7> subscripts;
    ProcessSet* set;
  };

  static bool are_same(const nagaya_xmp_subscript& a, const nagaya_xmp_subscript& b) {
    return a.kind == b.kind &&
           (a.kind != NAGAYA_XMP_RANGE || (a.low == b.low && a.high == b.high && a.step == b.step));
  }

  std::array<Known, 8> all_{};
  size_t next_ = 0;
};

}  // namespace nagaya::xmp
