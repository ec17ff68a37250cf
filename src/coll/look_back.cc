// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <utility>

#include "coll/in_order.h"
#include "coll/reduce.h"

namespace nagaya::coll {
namespace {

// A line's data: | the member's elements | the sum: the elements of rank 0 up to it, combined |.
constexpr uint32_t kHasSum = 1;  // the line's level

size_t bytes_of(const nagaya_elements& elements) {
  return elements.count * elements.extent;
}

void post(Operation& operation) {
  const nagaya_collective& what = operation.what();
  const size_t bytes = bytes_of(what.elements);
  if (bytes == 0) return;
  operation.post_data(2 * bytes, [&](std::byte* to) { std::memcpy(to, what.send.base, bytes); });
}

// Returns the nearest rank before this one that has posted its sum, or 0: rank 0's elements are its
// sum. Returns size() if a nearer rank has posted nothing yet.
uint32_t look_back(const Operation& operation) {
  for (uint32_t rank = operation.rank(); rank-- > 0;) {
    if (!operation.has_posted(rank)) return operation.size();
    if (rank == 0 || operation.has_posted(rank, kHasSum)) return rank;
  }
  return operation.size();
}

// to = before op own.
void add(const nagaya_elements& elements, const std::byte* before, const std::byte* own,
         std::byte* to) {
  combine(
      elements, 2, [&](uint32_t n) { return n == 0 ? before : own; }, to, elements.count);
}

// Returns the sum of all ranks before this one: adds to the sum of `from` the elements of the ranks
// between. It lies in the line of `from` or in one half of the scratch memory.
const std::byte* sum_before(Operation& operation, uint32_t from) {
  const nagaya_elements& elements = operation.what().elements;
  const size_t bytes = bytes_of(elements);
  const std::byte* sum = operation.line(from).data() + (from == 0 ? 0 : bytes);
  if (from + 1 == operation.rank()) return sum;
  std::byte* to = operation.new_scratch(2 * bytes);
  std::byte* other = to + bytes;
  for (uint32_t rank = from + 1; rank < operation.rank(); ++rank) {
    add(elements, sum, operation.line(rank).data(), to);
    sum = to;
    std::swap(to, other);
  }
  return sum;
}

bool work(Operation& operation) {
  const nagaya_collective& what = operation.what();
  const size_t bytes = bytes_of(what.elements);
  if (bytes == 0) return true;
  const bool is_inclusive = what.kind == NAGAYA_SCAN;
  const std::byte* const own = operation.line(operation.rank()).data();
  if (operation.rank() == 0) {
    if (is_inclusive) std::memcpy(what.receive.base, own, bytes);
    return true;
  }
  const uint32_t from = look_back(operation);
  if (from == operation.size()) return false;
  const std::byte* const before = sum_before(operation, from);
  auto* const result = static_cast<std::byte*>(what.receive.base);
  const bool is_last = operation.rank() + 1 == operation.size();
  if (!is_last) {
    add(what.elements, before, own, operation.own_data() + bytes);
    operation.post_level(kHasSum);
  }
  if (is_inclusive && is_last)
    add(what.elements, before, own, result);
  else
    std::memcpy(result, is_inclusive ? own + bytes : before, bytes);
  return true;
}

}  // namespace

const Algorithm kLookBack{"look back", post, work, nullptr, nullptr};

}  // namespace nagaya::coll
