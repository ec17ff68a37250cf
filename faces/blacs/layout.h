// SPDX-License-Identifier: BSD-3-Clause
// layout.h - a part of a matrix that is stored by columns: a rectangle, or a trapezoid.
#pragma once

#include <cstddef>
#include <vector>

#include "faces/blacs/shape.h"
#include "nagaya/llcl.h"

namespace nagaya::blacs {

class Layout {
 public:
  // m rows and n columns of items of `item_bytes` bytes; `lda` items from one column to the next.
  static Layout rectangle(void* matrix, Int m, Int n, Int lda, size_t item_bytes);
  // The items of a trapezoid; `lda` items of `item_bytes` bytes from one column to the next.
  static Layout trapezoid(void* matrix, const Shape& shape, Int lda, size_t item_bytes);

  size_t bytes() const { return bytes_; }
  // Whether all of it lies in one run of bytes, which begins at data().
  bool is_one_run() const { return columns_.empty() && rectangle_.count < 2; }
  void* data() const { return bytes_ == 0 ? nullptr : runs()->first; }
  const nagaya_runs* runs() const { return columns_.empty() ? &rectangle_ : columns_.data(); }
  // The member `runs` of the requests of match.h and coll.h: nullptr if all lies in one run, which
  // their member `data` or `buffer` names.
  const nagaya_runs* runs_or_null() const { return is_one_run() ? nullptr : runs(); }

  void pack(void* to) const;

 private:
  void add(void* first, size_t bytes);

  nagaya_runs rectangle_ = {};
  std::vector<nagaya_runs> columns_;  // of a trapezoid; empty: rectangle_ describes all
  size_t bytes_ = 0;
};

}  // namespace nagaya::blacs
