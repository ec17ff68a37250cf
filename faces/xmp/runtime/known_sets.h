// SPDX-License-Identifier: BSD-3-Clause
// known_sets.h - a cache of the process sets for the last 8 references to nodes or a template:
// programs repeat their references.
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

  // Returns the cached set; nullopt: not in the cache. A cached set may be nullptr: set_of() in
  // reference.h returns that for a reference without a set.
  std::optional<ProcessSet*> find(Subscripts subscripts) const {
    for (const Entry& one : all_)
      if (one.dimensions == subscripts.size() &&
          std::equal(subscripts.begin(), subscripts.end(), one.subscripts.begin(), are_same))
        return one.set;
    return std::nullopt;
  }
  // Enters a set in place of the oldest entry.
  void add(Subscripts subscripts, ProcessSet* set) {
    Entry& one = all_[next_++ % all_.size()];
    one.dimensions = subscripts.size();
    std::copy(subscripts.begin(), subscripts.end(), one.subscripts.begin());
    one.set = set;
  }

 private:
  struct Entry {
    size_t dimensions = 0;  // 0: the entry is free
    std::array<nagaya_xmp_subscript, 7> subscripts;
    ProcessSet* set;
  };

  static bool are_same(const nagaya_xmp_subscript& a, const nagaya_xmp_subscript& b) {
    return a.kind == b.kind &&
           (a.kind != NAGAYA_XMP_RANGE || (a.low == b.low && a.high == b.high && a.step == b.step));
  }

  std::array<Entry, 8> all_{};
  size_t next_ = 0;
};

}  // namespace nagaya::xmp
