// SPDX-License-Identifier: BSD-3-Clause
// reduction.h - base classes of the reductions that combine the elements of each node first.
#pragma once

#include "coll/hierarchy/elements.h"
#include "coll/hierarchy/schedule.h"
#include "coll/share.h"

namespace nagaya::coll::hierarchy {

class Reduction : public Schedule {
 public:
  using Schedule::Schedule;

 protected:
  // Combines all elements of the node's members into `combined_` of its leader.
  void first() override {
    if (is_alone_on_node()) {
      combined_ = static_cast<std::byte*>(what().send.base);
      return;
    }
    if (is_leader()) combined_ = memory_for_combined();
    nagaya_collective in = new_node_collective(NAGAYA_REDUCE);
    in.send = what().send;
    in.receive = layout::equal_blocks(combined_, 0);
    in.elements = what().elements;
    in.elements.count_of = nullptr;
    fan_in(in);
  }

  size_t count() const { return what().elements.count; }
  // Returns memory for all elements: the caller's if it gets all, without gaps; else scratch.
  std::byte* memory_for_combined() {
    const bool gets_all =
        what().kind == NAGAYA_ALLREDUCE || (what().kind == NAGAYA_REDUCE && is_root());
    return gets_all && !elements_.have_gaps() ? static_cast<std::byte*>(what().receive.base)
                                              : new_elements(count());
  }
  // Allocates memory for elements, aligned as malloc's is. Returns the first one's address.
  std::byte* new_elements(size_t count) {
    return elements_.first_in_buffer(new_scratch(elements_.buffer_bytes(count)), 0, count);
  }
  void send_elements(uint32_t to, std::byte* base, size_t count) {
    send(to, layout::block_of(elements_.block_of(base, count), 0));
  }
  void receive_elements(uint32_t from, std::byte* base, size_t count) {
    receive(from, layout::block_of(elements_.block_of(base, count), 0));
  }

  const Elements elements_{what().elements};
  std::byte* combined_ = nullptr;  // a leader's: its node's elements
};

// A reduction in which each leader combines a share of the elements of all nodes.
class ReductionByShares : public Reduction {
 public:
  using Reduction::Reduction;

 protected:
  // Returns the elements in `combined_` that the leader of `node` combines.
  virtual Share share_of_node(uint32_t node) const = 0;

  // Sends each other leader this node's elements of that leader's share, and receives from each its
  // node's elements of the own share.
  void exchange() {
    const size_t own_count = share_of_node(node()).count;
    received_ = new_scratch(nodes().nodes() * elements_.buffer_bytes(own_count));
    for_each_other_node([&](uint32_t to, uint32_t from) {
      const Share share = share_of_node(to);
      send_elements(leader_of(to), elements_.at(combined_, share.first), share.count);
      receive_elements(leader_of(from), elements_.first_in_buffer(received_, from, own_count),
                       own_count);
    });
  }
  // Combines the own share of all nodes, in their order. Overwrites the elements of some nodes and
  // returns those that are the result.
  std::byte* combine() {
    const Share own = share_of_node(node());
    const auto elements_of = [&](uint32_t n) {
      return n == node() ? elements_.at(combined_, own.first)
                         : elements_.first_in_buffer(received_, n, own.count);
    };
    uint32_t n = nodes().nodes() - 1;
    std::byte* const result = elements_of(n);
    while (n-- > 0) elements_.reduce(elements_of(n), result, own.count);
    return result;
  }

  // Stores the result, which the leader has sent, into the caller's memory.
  void store_data(uint32_t, const void* data, size_t) final {
    const size_t count = result_of(what(), rank(), size()).count;
    elements_.copy(what().receive.base, elements_.first_element(data, count), count);
  }

 private:
  std::byte* received_ = nullptr;  // a leader's: a buffer for each node's elements
};

}  // namespace nagaya::coll::hierarchy
