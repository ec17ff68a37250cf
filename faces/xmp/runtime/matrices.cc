// SPDX-License-Identifier: BSD-3-Clause
// matrices.cc - the functions xmp_transpose and xmp_matmul.
#include <algorithm>
#include <cstring>

#include "faces/xmp/runtime/redistribution.h"
#include "faces/xmp/runtime/reductions.h"
#include "faces/xmp/runtime/transformations.h"

namespace nagaya::xmp {
namespace {

// Returns the elements of these rows and columns, row after row.
Bytes fetch_block(const Ownership& from, const std::vector<long>& rows,
                  const std::vector<long>& columns) {
  std::vector<int64_t> wanted;
  for (const long i : rows)
    for (const long j : columns) wanted.push_back(from.number_of({i, j}));
  return fetch(from, wanted);
}

std::vector<long> all_indexes(long extent) {
  std::vector<long> all(static_cast<size_t>(extent));
  for (long i = 0; i < extent; ++i) all[static_cast<size_t>(i)] = i;
  return all;
}

}  // namespace

void transpose(const Call& call, xmp_desc_t x, xmp_desc_t a) {
  const Ownership to(call.matrix(x, "x")), from(call.matrix(a, "a"));
  call.need_same_elements(to.array(), from.array());
  call.need(to.extent(0) == from.extent(1) && to.extent(1) == from.extent(0),
            to.array().name + " must have the extents of " + from.array().name + ", exchanged");
  Elements elements(from.array().element_bytes);
  if (from.has_first_copy())
    from.for_each_own([&](int64_t number, const std::byte* value) {
      const std::vector<long> index = from.index_of(number);
      elements.add(to.number_of({index[1], index[0]}), value);
    });
  deliver(to, elements);
}

// Each node fetches the rows of a and the columns of b that its elements of x need.
void matmul(const Call& call, xmp_desc_t x, xmp_desc_t a, xmp_desc_t b) {
  const Ownership to(call.matrix(x, "x")), left(call.matrix(a, "a")), right(call.matrix(b, "b"));
  call.need_same_elements(to.array(), left.array());
  call.need_same_elements(to.array(), right.array());
  call.need(to.array().type >= 0, "the elements of " + to.array().name + " must be numbers");
  call.need(left.extent(0) == to.extent(0) && left.extent(1) == right.extent(0) &&
                right.extent(1) == to.extent(1),
            "the extents of " + to.array().name + ", " + left.array().name + " and " +
                right.array().name + " do not fit together");
  const std::vector<long>&rows = to.own_indexes(0), &columns = to.own_indexes(1);
  const std::vector<long> inner = all_indexes(left.extent(1));
  const Bytes lefts = fetch_block(left, rows, columns.empty() ? columns : inner);
  const Bytes rights = fetch_block(right, rows.empty() ? rows : inner, columns);
  const size_t bytes = to.array().element_bytes;
  MultiplyAdd* const multiply_add = multiply_add_of(static_cast<nagaya_xmp_type>(to.array().type));
  Bytes sums(columns.size() * bytes);
  for (size_t i = 0; i < rows.size() && !columns.empty(); ++i) {
    std::ranges::fill(sums, std::byte{0});
    for (size_t k = 0; k < inner.size(); ++k)
      multiply_add(lefts.data() + (i * inner.size() + k) * bytes, rights.data() + k * sums.size(),
                   sums.data(), columns.size());
    for (size_t j = 0; j < columns.size(); ++j)
      std::memcpy(to.address_of(to.number_of({rows[i], columns[j]})), sums.data() + j * bytes,
                  bytes);
  }
}

}  // namespace nagaya::xmp
