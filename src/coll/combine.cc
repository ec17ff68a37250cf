// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "coll/reduce.h"
#include "coll/share.h"

namespace nagaya::coll {
namespace {

void post(Operation& operation) {
  const nagaya_collective& what = operation.what();
  const size_t bytes = what.elements.count * what.elements.extent;
  operation.post_data(bytes, [&](std::byte* to) {
    if (bytes != 0) std::memcpy(to, what.send.base, bytes);
  });
}

// How many ranks' elements the member combines: all, or none.
uint32_t contributors(const Operation& operation) {
  const nagaya_collective& what = operation.what();
  return what.kind == NAGAYA_REDUCE && operation.rank() != what.root ? 0 : operation.size();
}

bool work(Operation& operation) {
  const uint32_t count = contributors(operation);
  for (; operation.next < count; ++operation.next)
    if (!operation.has_posted(operation.next)) return false;
  if (count == 0) return true;
  const nagaya_collective& what = operation.what();
  const nagaya_elements& elements = what.elements;
  const Share share = what.kind == NAGAYA_REDUCE_SCATTER
                          ? share_of(elements, operation.rank(), operation.size())
                          : Share{0, elements.count};
  if (share.count == 0) return true;
  const size_t offset = share.first * elements.extent;
  void* const result = what.receive.base;
  std::memcpy(result, operation.line(count - 1).data() + offset, share.count * elements.extent);
  for (uint32_t rank = count - 1; rank-- > 0;)
    elements.reduce(elements.context, operation.line(rank).data() + offset, result, share.count);
  return true;
}

}  // namespace

const Algorithm kCombine{"combine", post, work, nullptr, nullptr};

}  // namespace nagaya::coll
