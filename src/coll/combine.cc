// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "coll/reduce.h"
#include "coll/share.h"

namespace nagaya::coll {
namespace {

bool post(Operation& operation) {
  const nagaya_collective& what = operation.what();
  const size_t bytes = what.elements.count * what.elements.extent;
  std::byte* const to = operation.post_data(bytes);
  if (bytes != 0) std::memcpy(to, what.send.base, bytes);
  return true;
}

// The ranks 0 .. count - 1 whose elements the member combines.
uint32_t contributors(const Operation& operation) {
  const nagaya_collective& what = operation.what();
  const uint32_t rank = operation.rank();
  switch (what.kind) {
    case NAGAYA_REDUCE:
      return rank == what.root ? operation.size() : 0;
    case NAGAYA_SCAN:
      return rank + 1;
    case NAGAYA_EXSCAN:
      return rank;
    default:
      return operation.size();
  }
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
