// SPDX-License-Identifier: BSD-3-Clause
// each.cc - gather, scatter and alltoall in which each rank itself sends its blocks to ranks of
// other nodes, without leaders.
#include <cstring>

#include "coll/hierarchy/hierarchy.h"
#include "layout/blocks.h"

namespace nagaya::coll::hierarchy {
namespace {

// `buffer`: received blocks that the caller's `store` gets at the end. `offsets`: where each rank's
// block begins there.

bool is_on_own_node(const Schedule& schedule, uint32_t rank) {
  return schedule.nodes().node_of(rank) == schedule.node();
}

void send_block(Schedule& schedule, uint32_t to, const layout::Block& block) {
  if (block.bytes != 0) schedule.send(to, block.data, block.bytes);
}

// Receives the blocks of the ranks of other nodes.
void receive_blocks(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  size_t total = 0;
  if (what.store != nullptr) {
    for (uint32_t rank = 0; rank < schedule.size(); ++rank) {
      schedule.offsets.push_back(static_cast<ptrdiff_t>(total));
      if (!is_on_own_node(schedule, rank)) total += layout::block_of(what.receive, rank).bytes;
    }
    schedule.buffer = schedule.new_scratch(total);
  }
  for (uint32_t n = 1; n < schedule.size(); ++n) {
    const uint32_t from = (schedule.rank() + schedule.size() - n) % schedule.size();
    const layout::Block block = layout::block_of(what.receive, from);
    if (is_on_own_node(schedule, from) || block.bytes == 0) continue;
    std::byte* const to =
        what.store != nullptr ? schedule.buffer + schedule.offsets[from] : block.data;
    schedule.receive(from, to, block.bytes);
  }
}

void store_blocks(Schedule& schedule) {
  if (schedule.buffer == nullptr) return;
  for (uint32_t rank = 0; rank < schedule.size(); ++rank) {
    const size_t bytes = layout::block_of(schedule.what().receive, rank).bytes;
    if (!is_on_own_node(schedule, rank) && bytes != 0)
      schedule.deliver(rank, schedule.buffer + schedule.offsets[rank], bytes);
  }
}

void set_store(Schedule& schedule, nagaya_collective& local,
               void (*store)(void*, uint32_t, const void*, size_t)) {
  local.store = schedule.what().store != nullptr ? store : nullptr;
  local.store_context = &schedule;
}

// ---- gather -------------------------------------------------------------------------------------

void gather_first(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  if (schedule.is_root())
    receive_blocks(schedule);
  else if (!is_on_own_node(schedule, what.root))
    return send_block(schedule, what.root, layout::block_of(what.send, 0));
  if (schedule.is_alone_on_node()) {
    const layout::Block own = layout::block_of(what.send, 0);
    if (!layout::is_absent(what.send)) schedule.deliver(schedule.rank(), own.data, own.bytes);
    return;
  }
  nagaya_collective in = schedule.new_node_collective(NAGAYA_GATHER);
  in.send = what.send;
  if (schedule.is_root()) in.receive = schedule.own_blocks(what.receive);
  set_store(schedule, in, Schedule::deliver_from_member);
  schedule.fan_in(in);
}

// ---- scatter ------------------------------------------------------------------------------------

void deliver_own(void* context, uint32_t, const void* data, size_t bytes) {
  auto* const schedule = static_cast<Schedule*>(context);
  schedule->deliver(schedule->what().root, data, bytes);
}

void receive_own(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  const layout::Block own = layout::block_of(what.receive, 0);
  schedule.buffer = what.store != nullptr ? schedule.new_scratch(own.bytes) : own.data;
  if (own.bytes != 0) schedule.receive(what.root, schedule.buffer, own.bytes);
}

void scatter_first(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  if (!is_on_own_node(schedule, what.root)) return receive_own(schedule);
  if (schedule.is_root())
    for (uint32_t rank = 0; rank < schedule.size(); ++rank)
      if (!is_on_own_node(schedule, rank))
        send_block(schedule, rank, layout::block_of(what.send, rank));
  if (schedule.is_alone_on_node()) {
    const layout::Block own = layout::block_of(what.send, schedule.rank());
    if (!layout::is_absent(what.receive) || what.store != nullptr)
      schedule.deliver(what.root, own.data, own.bytes);
    return;
  }
  nagaya_collective in = schedule.new_node_collective(NAGAYA_SCATTER);
  in.receive = what.receive;
  if (schedule.is_root()) in.send = schedule.own_blocks(what.send);
  set_store(schedule, in, deliver_own);
  schedule.fan_in(in);
}

void scatter_end(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  if (!is_on_own_node(schedule, what.root) && what.store != nullptr)
    schedule.deliver(what.root, schedule.buffer, layout::block_of(what.receive, 0).bytes);
}

// ---- alltoall -----------------------------------------------------------------------------------

// In place: returns a copy of a block for another node, because the block received from there
// overwrites it. Else returns the block itself.
layout::Block copy_of(Schedule& schedule, const layout::Block& block) {
  if (schedule.what().send.base != schedule.what().receive.base || block.bytes == 0) return block;
  std::byte* const copy = schedule.new_scratch(block.bytes);
  std::memcpy(copy, block.data, block.bytes);
  return {copy, block.bytes};
}

void alltoall_first(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  receive_blocks(schedule);
  for (uint32_t n = 1; n < schedule.size(); ++n) {
    const uint32_t to = (schedule.rank() + n) % schedule.size();
    if (!is_on_own_node(schedule, to))
      send_block(schedule, to, copy_of(schedule, layout::block_of(what.send, to)));
  }
  if (schedule.is_alone_on_node()) {
    const layout::Block own = layout::block_of(what.send, schedule.rank());
    return schedule.deliver(schedule.rank(), own.data, own.bytes);
  }
  nagaya_collective in = schedule.new_node_collective(NAGAYA_ALLTOALL);
  in.send = schedule.own_blocks(what.send);
  in.receive = schedule.own_blocks(what.receive);
  set_store(schedule, in, Schedule::deliver_from_member);
  schedule.fan_in(in);
}

}  // namespace

const MultiNodeAlgorithm kGatherByRank{
    .name = "each by itself", .has_root = true, .first = gather_first, .end = store_blocks};
const MultiNodeAlgorithm kScatterByRank{
    .name = "each by itself", .has_root = true, .first = scatter_first, .end = scatter_end};
const MultiNodeAlgorithm kAlltoallByRank{
    .name = "each by itself", .first = alltoall_first, .end = store_blocks};

}  // namespace nagaya::coll::hierarchy
