// SPDX-License-Identifier: BSD-3-Clause
#include "faces/blacs/layout.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace nagaya::blacs {

// Calls what(run, bytes) for each run of bytes.
template <class What>
void Layout::for_each_run(What what) const {
  const size_t groups = columns_.empty() ? 1 : columns_.size();
  for (const nagaya_runs& group : std::span(runs(), groups))
    for (size_t n = 0; n < group.count; ++n)
      what(static_cast<std::byte*>(group.first) + static_cast<ptrdiff_t>(n) * group.stride,
           group.bytes);
}

Layout Layout::rectangle(void* matrix, Int m, Int n, Int lda, size_t item_bytes) {
  Layout layout;
  if (m < 1 || n < 1) return layout;
  const auto rows = static_cast<size_t>(m), columns = static_cast<size_t>(n);
  layout.bytes_ = rows * columns * item_bytes;
  if (lda <= m || n == 1)
    layout.rectangle_ = {matrix, layout.bytes_, 1, 0};
  else
    layout.rectangle_ = {matrix, rows * item_bytes, columns,
                         static_cast<ptrdiff_t>(static_cast<size_t>(lda) * item_bytes)};
  return layout;
}

// The diagonal ends in the last row of the last column (m > n: upper), begins in the first row of
// the first one (m > n: lower; else upper), or in the first row of column n-m (else lower).
Layout Layout::trapezoid(void* matrix, bool is_upper, bool has_diagonal, Int m, Int n, Int lda,
                         size_t item_bytes) {
  Layout layout;
  const Int without = has_diagonal ? 0 : 1;
  const auto column_bytes =
      static_cast<ptrdiff_t>(static_cast<size_t>(std::max(lda, m)) * item_bytes);
  for (Int column = 0; column < n; ++column) {
    // The row of the diagonal in this column.
    const Int diagonal = column + (is_upper ? std::max(m - n, 0) : std::min(m - n, 0));
    const Int begin = is_upper ? 0 : std::max(diagonal + (diagonal >= 0 ? without : 0), 0);
    const Int end = is_upper ? std::min(diagonal + 1 - without, m) : m;
    // A column beyond the diagonal is whole.
    const Int last = is_upper && diagonal >= m ? m : end;
    if (last <= begin) continue;
    layout.add(static_cast<std::byte*>(matrix) + column * column_bytes +
                   static_cast<ptrdiff_t>(static_cast<size_t>(begin) * item_bytes),
               static_cast<size_t>(last - begin) * item_bytes);
  }
  return layout;
}

void Layout::add(void* first, size_t bytes) {
  columns_.push_back({first, bytes, 1, 0});
  bytes_ += bytes;
}

void Layout::pack(void* to) const {
  auto* next = static_cast<std::byte*>(to);
  for_each_run([&](std::byte* run, size_t bytes) {
    std::memcpy(next, run, bytes);
    next += bytes;
  });
}

}  // namespace nagaya::blacs
