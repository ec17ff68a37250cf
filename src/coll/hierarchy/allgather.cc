// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "coll/hierarchy/hierarchy.h"
#include "layout/blocks.h"

namespace nagaya::coll::hierarchy {
namespace {

// A leader's `buffer`: all blocks, node by node. `sizes`, `offsets`: of each block there, in this
// order; one further offset is the end.

// Fills in `sizes` and `offsets`. Returns the size of all blocks.                      [bytes]
size_t find_block_offsets(Schedule& schedule) {
  size_t at = 0;
  for (const uint32_t rank : schedule.nodes().ranks()) {
    const size_t bytes = layout::block_of(schedule.what().receive, rank).bytes;
    schedule.sizes.push_back(bytes);
    schedule.offsets.push_back(static_cast<ptrdiff_t>(at));
    at += bytes;
  }
  schedule.offsets.push_back(static_cast<ptrdiff_t>(at));
  return at;
}

size_t total_bytes(const Schedule& schedule) {
  return static_cast<size_t>(schedule.offsets.back());
}

void first(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  const size_t total = find_block_offsets(schedule);
  if (schedule.is_leader()) schedule.buffer = schedule.new_scratch(total);
  const uint32_t begin = schedule.nodes().begin_of(schedule.node());
  if (schedule.is_alone_on_node()) {
    const layout::Block own = layout::block_of(what.send, 0);
    if (own.bytes != 0) std::memcpy(schedule.buffer + schedule.offsets[begin], own.data, own.bytes);
    return;
  }
  nagaya_collective in = schedule.new_node_collective(NAGAYA_GATHER);
  in.send = what.send;
  if (schedule.is_leader())
    in.receive = layout::listed_blocks(schedule.buffer, schedule.sizes.data() + begin,
                                       schedule.offsets.data() + begin);
  schedule.fan_in(in);
}

bool between(Schedule& schedule, uint32_t round) {
  if (!schedule.is_leader() || round != 0) return false;
  const processes::RanksByNode& nodes = schedule.nodes();
  const auto begin_of = [&](uint32_t node) { return schedule.offsets[nodes.begin_of(node)]; };
  const auto end_of = [&](uint32_t node) {
    return schedule.offsets[nodes.begin_of(node) + nodes.ranks_of(node).size()];
  };
  const uint32_t own = schedule.node();
  schedule.for_each_other_node([&](uint32_t to, uint32_t from) {
    schedule.send(schedule.leader_of(to), schedule.buffer + begin_of(own),
                  static_cast<size_t>(end_of(own) - begin_of(own)));
    schedule.receive(schedule.leader_of(from), schedule.buffer + begin_of(from),
                     static_cast<size_t>(end_of(from) - begin_of(from)));
  });
  return true;
}

void deliver_all(void* context, uint32_t, const void* data, size_t) {
  auto* const schedule = static_cast<Schedule*>(context);
  const auto* const from = static_cast<const std::byte*>(data);
  for (uint32_t n = 0; n < schedule->size(); ++n)
    schedule->deliver(schedule->nodes().ranks()[n], from + schedule->offsets[n],
                      schedule->sizes[n]);
}

void last(Schedule& schedule) {
  schedule.fan_out_to(deliver_all, NAGAYA_BCAST, total_bytes(schedule));
}

void end(Schedule& schedule) {
  if (schedule.is_leader()) deliver_all(&schedule, 0, schedule.buffer, 0);
}

}  // namespace

const MultiNodeAlgorithm kAllgather{.name = "by leaders",
                                    .fans_out = true,
                                    .first = first,
                                    .between = between,
                                    .last = last,
                                    .end = end};

}  // namespace nagaya::coll::hierarchy
