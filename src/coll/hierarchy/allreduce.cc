// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/elements.h"
#include "coll/hierarchy/hierarchy.h"
#include "coll/share.h"
#include "layout/blocks.h"
#include "llcl/tuning.h"

namespace nagaya::coll::hierarchy {
namespace {

// A leader's `buffer`: its node's combined elements, later the result. `other_buffer`: elements
// received from other nodes' leaders.

bool are_sliced(const Schedule& schedule) {
  const nagaya_elements& elements = schedule.what().elements;
  return elements.copy == nullptr &&
         elements.count * elements.extent > llcl::Tuning::own()[llcl::Tuned::kExchangedMaxBytes] &&
         elements.count >= schedule.nodes().nodes();
}

// Returns the elements that the leader of `node` combines: its slice, or all if there are no
// slices.
Share slice_of(const Schedule& schedule, uint32_t node) {
  const size_t count = schedule.what().elements.count;
  if (!are_sliced(schedule)) return {0, count};
  return equal_share(count, node, schedule.nodes().nodes());
}

void first(Schedule& schedule) {
  if (!schedule.is_leader()) return reduce_to_leader(schedule, nullptr);
  const nagaya_collective& what = schedule.what();
  const Elements elements(schedule);
  schedule.buffer = elements.have_gaps() ? elements.make_buffer(what.elements.count)
                                         : static_cast<std::byte*>(what.receive.base);
  schedule.is_alone_on_node() ? elements.copy(schedule.buffer, what.send.base, what.elements.count)
                              : reduce_to_leader(schedule, schedule.buffer);
}

// Sends each other leader this node's elements of that leader's slice, and receives from each its
// node's elements of the own slice.
void exchange(Schedule& schedule) {
  const Elements elements(schedule);
  const Share slice = slice_of(schedule, schedule.node());
  schedule.other_buffer = elements.make_buffers(schedule.nodes().nodes(), slice.count);
  schedule.for_each_other_node([&](uint32_t to, uint32_t from) {
    const Share peer_slice = slice_of(schedule, to);
    elements.send(schedule.leader_of(to), elements.at(schedule.buffer, peer_slice.first),
                  peer_slice.count);
    elements.receive(schedule.leader_of(from),
                     elements.first_in_buffer(schedule.other_buffer, from, slice.count),
                     slice.count);
  });
}

// Combines the own slice of all nodes, in their order, into `buffer`.
void combine(Schedule& schedule) {
  const Elements elements(schedule);
  const uint32_t own = schedule.node();
  const Share slice = slice_of(schedule, own);
  std::byte* const result = elements.at(schedule.buffer, slice.first);
  elements.copy(result,
                elements.combine(schedule.nodes().nodes(), slice.count,
                                 [&](uint32_t node) {
                                   return node == own
                                              ? result
                                              : elements.first_in_buffer(schedule.other_buffer,
                                                                         node, slice.count);
                                 }),
                slice.count);
}

// Sends the own combined slice to each other leader, and receives theirs.
void exchange_slices(Schedule& schedule) {
  const Elements elements(schedule);
  const Share slice = slice_of(schedule, schedule.node());
  schedule.for_each_other_node([&](uint32_t to, uint32_t from) {
    const Share peer_slice = slice_of(schedule, from);
    elements.send(schedule.leader_of(to), elements.at(schedule.buffer, slice.first), slice.count);
    elements.receive(schedule.leader_of(from), elements.at(schedule.buffer, peer_slice.first),
                     peer_slice.count);
  });
}

bool between(Schedule& schedule, uint32_t round) {
  if (!schedule.is_leader()) return false;
  if (round == 0) {
    exchange(schedule);
    return true;
  }
  if (round == 1) combine(schedule);
  if (round > 1 || !are_sliced(schedule)) return false;
  exchange_slices(schedule);
  return true;
}

// Stores the result, which the leader has sent, into a receive buffer with gaps.
void store_result(void* context, uint32_t, const void* data, size_t) {
  auto* const schedule = static_cast<Schedule*>(context);
  const nagaya_collective& what = schedule->what();
  const Elements elements(*schedule);
  elements.copy(what.receive.base, elements.first_element(data, what.elements.count),
                what.elements.count);
}

void last(Schedule& schedule) {
  if (schedule.is_alone_on_node()) return;
  const nagaya_collective& what = schedule.what();
  const Elements elements(schedule);
  const size_t count = what.elements.count, bytes = elements.span(count).bytes;
  nagaya_collective out = schedule.new_node_collective(NAGAYA_BCAST);
  if (schedule.is_leader()) {
    out.send = layout::equal_blocks(elements.lowest_byte(schedule.buffer, count), bytes);
  } else {
    out.receive = layout::equal_blocks(what.receive.base, bytes);
    out.store = elements.have_gaps() ? store_result : nullptr;
    out.store_context = &schedule;
  }
  schedule.fan_out(out);
}

void end(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  if (schedule.is_leader())
    Elements(schedule).copy(what.receive.base, schedule.buffer, what.elements.count);
}

}  // namespace

const MultiNodeAlgorithm kAllreduce{.name = "leaders to each other",
                                    .fans_out = true,
                                    .first = first,
                                    .between = between,
                                    .last = last,
                                    .end = end};

}  // namespace nagaya::coll::hierarchy
