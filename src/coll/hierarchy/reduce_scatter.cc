// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/elements.h"
#include "coll/hierarchy/hierarchy.h"
#include "coll/share.h"
#include "layout/blocks.h"

namespace nagaya::coll::hierarchy {
namespace {

// A leader's `buffer`: its node's combined elements, sorted by the node whose ranks get them; later
// the result for the own node's ranks. `other_buffer`: elements received from other nodes' leaders.
// `sizes`: where the elements for each node begin in `buffer` [elements], then the end; in the last
// stage the size of each member's result [bytes].

Share share_of_rank(const Schedule& schedule, uint32_t rank) {
  return share_of(schedule.what().elements, rank, schedule.size());
}

void first(Schedule& schedule) {
  if (!schedule.is_leader()) return reduce_to_leader(schedule, nullptr);
  const nagaya_collective& what = schedule.what();
  if (schedule.is_alone_on_node()) {
    schedule.buffer = static_cast<std::byte*>(what.send.base);
    return;
  }
  schedule.buffer = Elements(schedule).make_buffer(what.elements.count);
  reduce_to_leader(schedule, schedule.buffer);
}

// Fills in `sizes`.
void find_node_offsets(Schedule& schedule) {
  const processes::RanksByNode& nodes = schedule.nodes();
  size_t at = 0;
  for (uint32_t node = 0; node < nodes.nodes(); ++node) {
    schedule.sizes.push_back(at);
    for (const uint32_t rank : nodes.ranks_of(node)) at += share_of_rank(schedule, rank).count;
  }
  schedule.sizes.push_back(at);
}

// Sorts `buffer` by the nodes whose ranks get the elements. Copies it if it is the caller's memory,
// which must not be written.
void sort(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  const Elements elements(schedule);
  const bool is_callers = schedule.buffer == what.send.base;
  if (schedule.nodes().are_blocks() && !is_callers) return;
  std::byte* const sorted = elements.make_buffer(what.elements.count);
  size_t at = 0;
  for (const uint32_t rank : schedule.nodes().ranks()) {
    const Share share = share_of_rank(schedule, rank);
    elements.copy(elements.at(sorted, at), elements.at(schedule.buffer, share.first), share.count);
    at += share.count;
  }
  schedule.buffer = sorted;
}

void exchange(Schedule& schedule) {
  const Elements elements(schedule);
  const uint32_t own = schedule.node();
  const auto count_of = [&](uint32_t node) {
    return schedule.sizes[node + 1] - schedule.sizes[node];
  };
  schedule.other_buffer = elements.make_buffers(schedule.nodes().nodes(), count_of(own));
  schedule.for_each_other_node([&](uint32_t to, uint32_t from) {
    elements.send(schedule.leader_of(to), elements.at(schedule.buffer, schedule.sizes[to]),
                  count_of(to));
    elements.receive(schedule.leader_of(from),
                     elements.first_in_buffer(schedule.other_buffer, from, count_of(own)),
                     count_of(own));
  });
}

bool between(Schedule& schedule, uint32_t round) {
  if (!schedule.is_leader()) return false;
  if (round == 0) {
    find_node_offsets(schedule);
    sort(schedule);
    exchange(schedule);
    return true;
  }
  const Elements elements(schedule);
  const uint32_t own = schedule.node();
  const size_t count = schedule.sizes[own + 1] - schedule.sizes[own];
  std::byte* const mine = elements.at(schedule.buffer, schedule.sizes[own]);
  schedule.buffer = elements.combine(schedule.nodes().nodes(), count, [&](uint32_t node) {
    return node == own ? mine : elements.first_in_buffer(schedule.other_buffer, node, count);
  });
  return false;
}

void store_result(void* context, uint32_t, const void* data, size_t) {
  auto* const schedule = static_cast<Schedule*>(context);
  const nagaya_collective& what = schedule->what();
  const Elements elements(*schedule);
  const size_t count = share_of_rank(*schedule, schedule->rank()).count;
  elements.copy(what.receive.base, elements.first_element(data, count), count);
}

void last(Schedule& schedule) {
  if (schedule.is_alone_on_node()) return;
  const Elements elements(schedule);
  nagaya_collective out = schedule.new_node_collective(NAGAYA_SCATTER);
  out.receive = layout::equal_blocks(
      nullptr, elements.span(share_of_rank(schedule, schedule.rank()).count).bytes);
  out.store = store_result;
  out.store_context = &schedule;
  if (schedule.is_leader()) {
    schedule.sizes.clear();
    size_t at = 0;
    for (const uint32_t rank : schedule.own_ranks()) {
      const size_t count = share_of_rank(schedule, rank).count;
      std::byte* const data = elements.lowest_byte(elements.at(schedule.buffer, at), count);
      schedule.sizes.push_back(elements.span(count).bytes);
      schedule.offsets.push_back(data - schedule.buffer);
      at += count;
    }
    out.send =
        layout::listed_blocks(schedule.buffer, schedule.sizes.data(), schedule.offsets.data());
  }
  schedule.fan_out(out);
}

void end(Schedule& schedule) {
  if (schedule.is_alone_on_node())
    Elements(schedule).copy(schedule.what().receive.base, schedule.buffer,
                            share_of_rank(schedule, schedule.rank()).count);
}

}  // namespace

const MultiNodeAlgorithm kReduceScatter{.name = "leaders to each other",
                                        .fans_out = true,
                                        .first = first,
                                        .between = between,
                                        .last = last,
                                        .end = end};

}  // namespace nagaya::coll::hierarchy
