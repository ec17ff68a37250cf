// SPDX-License-Identifier: BSD-3-Clause
// elements.h - handles a reduction's elements between nodes: allocates, copies, combines, sends and
// receives them with their gaps, in scratch memory of the schedule.
#pragma once

#include <cstring>

#include "coll/hierarchy/schedule.h"
#include "coll/span.h"
#include "layout/blocks.h"

namespace nagaya::coll::hierarchy {

class Elements {
 public:
  explicit Elements(Schedule& schedule) : schedule_(schedule), what_(schedule.what().elements) {}

  bool have_gaps() const { return what_.copy != nullptr; }
  // Returns the address of element n.
  std::byte* at(void* base, size_t n) const {
    return static_cast<std::byte*>(base) + static_cast<ptrdiff_t>(n * what_.extent);
  }
  Span span(size_t count) const { return span_of(what_, count); }
  // Returns the lowest byte of `count` elements from `base` on, gaps included.
  std::byte* lowest_byte(std::byte* base, size_t count) const { return base + span(count).first; }
  // Inverse of lowest_byte(): returns the first element's address from the lowest byte's.
  const std::byte* first_element(const void* data, size_t count) const {
    return static_cast<const std::byte*>(data) - span(count).first;
  }

  // Allocates memory for `count` elements, aligned as malloc's is. Returns the first one's address.
  std::byte* make_buffer(size_t count) const {
    return first_in_buffer(schedule_.new_scratch(buffer_bytes(count)), 0, count);
  }
  // Allocates `buffers` buffers of `count` elements each, one per node or rank. first_in_buffer()
  // returns the address of the first element in buffer n, buffer_bytes() a buffer's size.
  std::byte* make_buffers(uint32_t buffers, size_t count) const {
    return schedule_.new_scratch(buffers * buffer_bytes(count));
  }
  std::byte* first_in_buffer(std::byte* buffers, uint32_t n, size_t count) const {
    return buffers + n * buffer_bytes(count) + buffer_layout_of(what_, count).first;
  }
  size_t buffer_bytes(size_t count) const { return buffer_layout_of(what_, count).bytes; }
  // inout[n] = in[n] op inout[n].
  void reduce(const std::byte* in, std::byte* inout, size_t count) const {
    if (count != 0) what_.reduce(what_.context, in, inout, count);
  }
  void copy(void* to, const void* from, size_t count) const {
    if (count == 0 || to == from) return;
    have_gaps() ? what_.copy(what_.context, to, from, count)
                : static_cast<void>(std::memcpy(to, from, count * what_.extent));
  }

  // Combines the elements of nodes 0 .. nodes-1 in this order: partial(n) is the address of node
  // n's. Overwrites some of them and returns the one that has the result.
  template <class Partial>
  std::byte* combine(uint32_t nodes, size_t count, Partial partial) const {
    std::byte* const result = partial(nodes - 1);
    for (uint32_t node = nodes - 1; node-- > 0;) reduce(partial(node), result, count);
    return result;
  }

  void send(uint32_t to, std::byte* base, size_t count) const {
    schedule_.send(to, lowest_byte(base, count), span(count).bytes);
  }
  void receive(uint32_t from, std::byte* base, size_t count) const {
    schedule_.receive(from, lowest_byte(base, count), span(count).bytes);
  }

 private:
  Schedule& schedule_;
  const nagaya_elements& what_;
};

// Adds the fan-in that combines all elements of the node's members into `to` of its leader.
inline void reduce_to_leader(Schedule& schedule, std::byte* to) {
  nagaya_collective in = schedule.new_node_collective(NAGAYA_REDUCE);
  in.send = schedule.what().send;
  in.receive = layout::equal_blocks(to, 0);
  in.elements = schedule.what().elements;
  in.elements.count_of = nullptr;
  schedule.fan_in(in);
}

}  // namespace nagaya::coll::hierarchy
