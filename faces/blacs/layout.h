// SPDX-License-Identifier: BSD-3-Clause
// layout.h - a part of a matrix that is stored by columns: a rectangle, or a trapezoid.
#pragma once

#include <cstddef>
#include <vector>

#include "faces/blacs/system.h"

namespace nagaya::blacs {

class Layout {
 public:
  // m rows, n columns, from one column to the next `lda` items of `item_bytes`.
  static Layout rectangle(void* matrix, Int m, Int n, Int lda, size_t item_bytes);
  // Of those the upper or lower trapezoid, with the diagonal or without.
  static Layout trapezoid(void* matrix, bool is_upper, bool has_diagonal, Int m, Int n, Int lda,
                          size_t item_bytes);

  size_t bytes() const { return bytes_; }
  // All of it lies in one run of bytes: data() is its beginning.
  bool is_one_run() const { return runs_.empty() || (runs_.size() == 1 && runs_[0].count == 1); }
  void* data() const { return runs_.empty() ? nullptr : runs_[0].first; }
  const nagaya_runs* runs() const { return runs_.data(); }

  void pack(void* to) const;
  // `bytes` of them, from the beginning: bytes() at most.
  void unpack(const void* from, size_t bytes) const;

 private:
  void add(void* first, size_t bytes);

  std::vector<nagaya_runs> runs_;
  size_t bytes_ = 0;
};

}  // namespace nagaya::blacs
