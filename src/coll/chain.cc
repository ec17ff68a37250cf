// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "coll/reduce.h"

namespace nagaya::coll {
namespace {

// The line of the member before it has been read: nothing is posted at once but by the first.
void post(Operation& operation) {
  if (operation.rank() != 0) return;
  const nagaya_collective& what = operation.what();
  const size_t bytes = what.elements.count * what.elements.extent;
  operation.post_data(bytes, [&](std::byte* to) {
    if (bytes != 0) std::memcpy(to, what.send.base, bytes);
  });
}

// Posts the ranks up to this one, from those before it.
void post_next(Operation& operation, const std::byte* before, size_t bytes) {
  const nagaya_elements& elements = operation.what().elements;
  operation.post_data(bytes, [&](std::byte* to) {
    std::memcpy(to, operation.what().send.base, bytes);
    elements.reduce(elements.context, before, to, elements.count);
  });
}

bool work(Operation& operation) {
  const nagaya_collective& what = operation.what();
  const uint32_t rank = operation.rank();
  const size_t bytes = what.elements.count * what.elements.extent;
  const bool is_inclusive = what.kind == NAGAYA_SCAN;
  if (rank != 0 && !operation.has_posted(rank - 1)) return false;
  if (bytes == 0) {
    if (rank != 0) operation.post_data(0, [](std::byte*) {});
    return true;
  }
  if (rank != 0) {
    const std::byte* const before = operation.line(rank - 1).data();
    post_next(operation, before, bytes);
    if (!is_inclusive) std::memcpy(what.receive.base, before, bytes);
  }
  if (is_inclusive) std::memcpy(what.receive.base, operation.line(rank).data(), bytes);
  return true;
}

}  // namespace

const Algorithm kChain{"chain", post, work, nullptr, nullptr};

}  // namespace nagaya::coll
