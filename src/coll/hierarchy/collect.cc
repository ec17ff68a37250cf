// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/elements.h"
#include "coll/hierarchy/hierarchy.h"
#include "coll/share.h"
#include "layout/blocks.h"

namespace nagaya::coll::hierarchy {
namespace {

// A leader's `buffer`: a buffer for each rank's elements, node by node.

void first(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  const size_t count = what.elements.count;
  const Elements elements(schedule);
  if (schedule.is_leader()) schedule.buffer = elements.make_buffers(schedule.size(), count);
  const uint32_t begin = schedule.nodes().begin_of(schedule.node());
  if (schedule.is_alone_on_node()) {
    elements.copy(elements.first_in_buffer(schedule.buffer, begin, count), what.send.base, count);
    return;
  }
  auto* const own = static_cast<std::byte*>(what.send.base);
  nagaya_collective in = schedule.new_node_collective(NAGAYA_GATHER);
  in.send = layout::equal_blocks(elements.lowest_byte(own, count), elements.span(count).bytes);
  if (schedule.is_leader()) {
    in.receive = layout::equal_blocks(
        elements.lowest_byte(elements.first_in_buffer(schedule.buffer, begin, count), count),
        elements.span(count).bytes);
    in.receive.stride = static_cast<ptrdiff_t>(elements.buffer_bytes(count));
  }
  schedule.fan_in(in);
}

bool between(Schedule& schedule, uint32_t round) {
  if (!schedule.is_leader() || round != 0) return false;
  const processes::RanksByNode& nodes = schedule.nodes();
  const size_t bytes = Elements(schedule).buffer_bytes(schedule.what().elements.count);
  const auto buffers_of_node = [&](uint32_t node) {
    return schedule.buffer + nodes.begin_of(node) * bytes;
  };
  const uint32_t own = schedule.node();
  schedule.for_each_other_node([&](uint32_t to, uint32_t from) {
    schedule.send(schedule.leader_of(to), buffers_of_node(own), nodes.ranks_of(own).size() * bytes);
    schedule.receive(schedule.leader_of(from), buffers_of_node(from),
                     nodes.ranks_of(from).size() * bytes);
  });
  return true;
}

// Called with the leader's places of all ranks' elements: combines those of this member's result,
// without the result of any other member.
void combine(void* context, uint32_t, const void* data, size_t) {
  auto& schedule = *static_cast<Schedule*>(context);
  const nagaya_collective& what = schedule.what();
  const Elements elements(schedule);
  const Share share = result_of(what, schedule.rank(), schedule.size());
  auto* const buffers = static_cast<std::byte*>(const_cast<void*>(data));
  const auto elements_of = [&](uint32_t rank) {
    const processes::RanksByNode& nodes = schedule.nodes();
    const uint32_t n = nodes.begin_of(nodes.node_of(rank)) + nodes.index_of(rank);
    return elements.at(elements.first_in_buffer(buffers, n, what.elements.count), share.first);
  };
  uint32_t rank = count_contributors(what, schedule.rank(), schedule.size());
  if (rank == 0) return;
  auto* const result = static_cast<std::byte*>(what.receive.base);
  elements.copy(result, elements_of(--rank), share.count);
  while (rank-- > 0) elements.reduce(elements_of(rank), result, share.count);
}

void last(Schedule& schedule) {
  const size_t bytes = Elements(schedule).buffer_bytes(schedule.what().elements.count);
  schedule.fan_out_to(combine, NAGAYA_BCAST, schedule.size() * bytes);
}

void end(Schedule& schedule) {
  if (schedule.is_leader()) combine(&schedule, 0, schedule.buffer, 0);
}

}  // namespace

const MultiNodeAlgorithm kGatherAllThenReduce{.name = "all elements to each",
                                              .fans_out = true,
                                              .first = first,
                                              .between = between,
                                              .last = last,
                                              .end = end};

}  // namespace nagaya::coll::hierarchy
