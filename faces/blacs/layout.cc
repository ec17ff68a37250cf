// SPDX-License-Identifier: BSD-3-Clause
#include "faces/blacs/layout.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace nagaya::blacs {

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

Layout Layout::trapezoid(void* matrix, const Shape& shape, Int lda, size_t item_bytes) {
  Layout layout;
  const auto column_bytes =
      static_cast<ptrdiff_t>(static_cast<size_t>(std::max(lda, shape.m)) * item_bytes);
  for (Int column = 0; column < shape.n; ++column) {
    const auto [begin, end] = shape.rows_of(column);
    if (end <= begin) continue;
    layout.add(static_cast<std::byte*>(matrix) + column * column_bytes +
                   static_cast<ptrdiff_t>(static_cast<size_t>(begin) * item_bytes),
               static_cast<size_t>(end - begin) * item_bytes);
  }
  return layout;
}

void Layout::add(void* first, size_t bytes) {
  columns_.push_back({first, bytes, 1, 0});
  bytes_ += bytes;
}

void Layout::pack(void* to) const {
  auto* next = static_cast<std::byte*>(to);
  const size_t groups = columns_.empty() ? 1 : columns_.size();
  for (const nagaya_runs& group : std::span(runs(), groups))
    for (size_t n = 0; n < group.count; ++n, next += group.bytes)
      std::memcpy(next,
                  static_cast<std::byte*>(group.first) + static_cast<ptrdiff_t>(n) * group.stride,
                  group.bytes);
}

}  // namespace nagaya::blacs
