// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "coll/pieces.h"
#include "coll/reduce.h"
#include "coll/share.h"

namespace nagaya::coll {
namespace {

void post(Operation& operation) {
  const nagaya_collective& what = operation.what();
  const size_t bytes = what.elements.count * what.elements.extent;
  const llcl::Buffer from(what.send.base, bytes, what.runs);
  operation.post_data(bytes, [&](std::byte* to) {
    if (bytes != 0) llcl::gather(from, to, bytes);
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
  const Pieces result{static_cast<std::byte*>(what.receive.base), what.runs, elements.extent};
  result.for_each(0, share.count, [&](std::byte* piece, size_t number, size_t length) {
    const size_t offset = (share.first + number) * elements.extent;
    std::memcpy(piece, operation.line(count - 1).data() + offset, length * elements.extent);
    for (uint32_t rank = count - 1; rank-- > 0;)
      elements.reduce(elements.context, operation.line(rank).data() + offset, piece, length);
  });
  return true;
}

}  // namespace

const Algorithm kCombine{"combine", post, work, nullptr, nullptr};

}  // namespace nagaya::coll
