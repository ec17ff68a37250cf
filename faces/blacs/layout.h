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
  // m rows, n columns, from one column to the next `lda` items of `item_bytes`.
  static Layout rectangle(void* matrix, Int m, Int n, Int lda, size_t item_bytes);
  // The same of a shape that is no rectangle.
  static Layout trapezoid(void* matrix, const Shape& shape, Int lda, size_t item_bytes);

  size_t bytes() const { return bytes_; }
  // All of it lies in one run of bytes: data() is its beginning.
  bool is_one_run() const { return columns_.empty() && rectangle_.count < 2; }
  void* data() const { return bytes_ == 0 ? nullptr : runs()->first; }
  const nagaya_runs* runs() const { return columns_.empty() ? &rectangle_ : columns_.data(); }
  // As requests take it: nullptr if it is one run.
  const nagaya_runs* gaps() const { return is_one_run() ? nullptr : runs(); }

  void pack(void* to) const;

 private:
  void add(void* first, size_t bytes);

  nagaya_runs rectangle_ = {};
  std::vector<nagaya_runs> columns_;  // of a trapezoid; empty: it is the rectangle
  size_t bytes_ = 0;
};

}  // namespace nagaya::blacs
