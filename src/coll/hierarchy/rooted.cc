// SPDX-License-Identifier: BSD-3-Clause
// rooted.cc - gather and scatter through leaders, for blocks of one size.
#include <cstring>

#include "coll/hierarchy/hierarchy.h"
#include "layout/blocks.h"

namespace nagaya::coll::hierarchy {
namespace {

// A leader's `buffer`: the blocks of its node's ranks, contiguous. The root's `buffer`: the blocks
// of all ranks, node by node (nodes().ranks()).

// Returns the size of a block: from `many` at the root, which has a block for each rank; else from
// `one`.                                                                               [bytes]
size_t bytes_of(const Schedule& schedule, const nagaya_blocks& many, const nagaya_blocks& one) {
  return layout::block_of(schedule.is_root() ? many : one, 0).bytes;
}

// Returns the blocks of a node's ranks in the root's `buffer`.
std::byte* blocks_of_node(const Schedule& schedule, uint32_t node, size_t bytes) {
  return schedule.buffer + schedule.nodes().begin_of(node) * bytes;
}

// ---- gather -------------------------------------------------------------------------------------

size_t gathered_bytes(const Schedule& schedule) {
  return bytes_of(schedule, schedule.what().receive, schedule.what().send);
}

void gather_first(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  const size_t bytes = gathered_bytes(schedule);
  if (schedule.is_root()) {
    schedule.buffer = schedule.new_scratch(schedule.size() * bytes);
    if (schedule.is_alone_on_node() && !layout::is_absent(what.send))
      schedule.deliver(schedule.rank(), layout::block_of(what.send, 0).data, bytes);
  } else if (schedule.is_leader()) {
    schedule.buffer = schedule.is_alone_on_node()
                          ? layout::block_of(what.send, 0).data
                          : schedule.new_scratch(schedule.own_ranks().size() * bytes);
  }
  if (schedule.is_alone_on_node()) return;
  nagaya_collective in = schedule.new_node_collective(NAGAYA_GATHER);
  in.send = what.send;
  if (schedule.is_root()) {
    in.receive = schedule.own_blocks(what.receive);
    in.store = what.store != nullptr ? Schedule::deliver_from_member : nullptr;
    in.store_context = &schedule;
  } else if (schedule.is_leader()) {
    in.receive = layout::equal_blocks(schedule.buffer, bytes);
  }
  schedule.fan_in(in);
}

bool gather_between(Schedule& schedule, uint32_t round) {
  if (!schedule.is_leader() || round != 0) return false;
  const processes::RanksByNode& nodes = schedule.nodes();
  const size_t bytes = gathered_bytes(schedule);
  if (!schedule.is_root()) {
    schedule.send(schedule.what().root, schedule.buffer, schedule.own_ranks().size() * bytes);
    return true;
  }
  for (uint32_t node = 0; node < nodes.nodes(); ++node)
    if (node != schedule.node())
      schedule.receive(schedule.leader_of(node), blocks_of_node(schedule, node, bytes),
                       nodes.ranks_of(node).size() * bytes);
  return true;
}

void gather_end(Schedule& schedule) {
  if (!schedule.is_root()) return;
  const size_t bytes = gathered_bytes(schedule);
  const std::byte* from = schedule.buffer;
  for (const uint32_t rank : schedule.nodes().ranks()) {
    if (schedule.nodes().node_of(rank) != schedule.node()) schedule.deliver(rank, from, bytes);
    from += bytes;
  }
}

// ---- scatter ------------------------------------------------------------------------------------

size_t scattered_bytes(const Schedule& schedule) {
  return bytes_of(schedule, schedule.what().send, schedule.what().receive);
}

void send_to_nodes(Schedule& schedule) {
  const processes::RanksByNode& nodes = schedule.nodes();
  const size_t bytes = scattered_bytes(schedule);
  schedule.buffer = schedule.new_scratch(schedule.size() * bytes);
  for (uint32_t node = 0; node < nodes.nodes(); ++node) {
    if (node == schedule.node()) continue;
    std::byte* to = blocks_of_node(schedule, node, bytes);
    for (const uint32_t rank : nodes.ranks_of(node)) {
      const layout::Block block = layout::block_of(schedule.what().send, rank);
      if (bytes != 0) std::memcpy(to, block.data, bytes);
      to += bytes;
    }
    schedule.send(schedule.leader_of(node), blocks_of_node(schedule, node, bytes),
                  nodes.ranks_of(node).size() * bytes);
  }
}

bool scatter_between(Schedule& schedule, uint32_t round) {
  if (!schedule.is_leader() || schedule.is_root() || round != 0) return false;
  const size_t bytes = schedule.own_ranks().size() * scattered_bytes(schedule);
  schedule.buffer = schedule.new_scratch(bytes);
  schedule.receive(schedule.what().root, schedule.buffer, bytes);
  return true;
}

void deliver_own(void* context, uint32_t, const void* data, size_t bytes) {
  auto* const schedule = static_cast<Schedule*>(context);
  schedule->deliver(schedule->what().root, data, bytes);
}

void scatter_last(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  const size_t bytes = scattered_bytes(schedule);
  if (schedule.is_root()) send_to_nodes(schedule);
  if (schedule.is_alone_on_node()) return;
  nagaya_collective out = schedule.new_node_collective(NAGAYA_SCATTER);
  if (schedule.is_root())
    out.send = schedule.own_blocks(what.send);
  else if (schedule.is_leader())
    out.send = layout::equal_blocks(schedule.buffer, bytes);
  out.receive = what.receive;
  out.store = what.store != nullptr ? deliver_own : nullptr;
  out.store_context = &schedule;
  schedule.fan_out(out);
}

void scatter_end(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  const bool receives = !layout::is_absent(what.receive) || what.store != nullptr;
  if (!schedule.is_alone_on_node() || !receives) return;
  const std::byte* const own =
      schedule.is_root() ? layout::block_of(what.send, schedule.rank()).data : schedule.buffer;
  schedule.deliver(what.root, own, scattered_bytes(schedule));
}

}  // namespace

const MultiNodeAlgorithm kGather{.name = "by leaders",
                                 .has_root = true,
                                 .first = gather_first,
                                 .between = gather_between,
                                 .end = gather_end};
const MultiNodeAlgorithm kScatter{.name = "by leaders",
                                  .has_root = true,
                                  .fans_out = true,
                                  .between = scatter_between,
                                  .last = scatter_last,
                                  .end = scatter_end};

}  // namespace nagaya::coll::hierarchy
