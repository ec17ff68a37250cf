// SPDX-License-Identifier: BSD-3-Clause
#include "coll/in_order.h"
#include "coll/pieces.h"
#include "coll/reduce.h"
#include "coll/share.h"
#include "layout/runs.h"

namespace nagaya::coll {
namespace {

void post(Operation& operation) {
  const nagaya_collective& what = operation.what();
  const size_t bytes = what.elements.count * what.elements.extent;
  const layout::Buffer from(what.send.base, bytes, what.send.runs);
  operation.post_data(bytes, [&](std::byte* to) { layout::gather(from, to, bytes); });
}

bool work(Operation& operation) {
  const nagaya_collective& what = operation.what();
  const uint32_t count = count_contributors(what, operation.rank(), operation.size());
  for (; operation.next < count; ++operation.next)
    if (!operation.has_posted(operation.next)) return false;
  if (count == 0) return true;
  const nagaya_elements& elements = what.elements;
  const Share share = result_of(what, operation.rank(), operation.size());
  if (share.count == 0) return true;
  const Pieces result{static_cast<std::byte*>(what.receive.base), what.receive.runs,
                      elements.extent};
  result.for_each(0, share.count, [&](std::byte* piece, size_t number, size_t length) {
    const size_t offset = (share.first + number) * elements.extent;
    const auto from = [&](uint32_t rank) { return operation.line(rank).data() + offset; };
    combine(elements, count, from, piece, length);
  });
  return true;
}

}  // namespace

const Algorithm kCombine{"combine", post, work, nullptr, nullptr};

}  // namespace nagaya::coll
