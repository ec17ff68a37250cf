// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/hierarchy.h"
#include "coll/hierarchy/tree.h"
#include "layout/blocks.h"
#include "llcl/tuning.h"

namespace nagaya::coll::hierarchy {
namespace {

// A leader's `buffer`: its block, if that does not lie in the caller's memory; else nullptr.

layout::Block block_of_caller(const Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  return layout::block_of(schedule.is_root() ? what.send : what.receive, 0);
}
size_t bytes_of(const Schedule& schedule) {
  return block_of_caller(schedule).bytes;
}
// Whether the root defers the sends of its block, because it may detach before they begin. The root
// copies a shorter block at once.
bool is_deferred(const Schedule& schedule) {
  return schedule.what().may_detach != 0 &&
         bytes_of(schedule) > llcl::Tuning::own()[llcl::Tuned::kPostedMaxBytes];
}
layout::Block block_of_leader(const Schedule& schedule) {
  const layout::Block block = block_of_caller(schedule);
  return schedule.buffer != nullptr ? layout::Block{schedule.buffer, block.bytes} : block;
}

void deliver_from_root(void* context, uint32_t, const void* data, size_t bytes) {
  auto* const schedule = static_cast<Schedule*>(context);
  schedule->deliver(schedule->what().root, data, bytes);
}

bool between(Schedule& schedule, uint32_t round) {
  const nagaya_collective& what = schedule.what();
  if (!schedule.is_leader() || schedule.is_root() || round != 0) return false;
  const size_t bytes = bytes_of(schedule);
  if (what.store != nullptr) schedule.buffer = schedule.new_scratch(bytes);
  const Tree tree(schedule, schedule.nodes().node_of(what.root));
  const uint32_t parent = tree.leader(tree.parent());
  schedule.receive(parent, block_of_leader(schedule).buffer(), bytes);
  if (is_deferred(schedule) && parent == what.root) schedule.send(parent, nullptr, 0);
  return true;
}

void copy_at_once(Schedule& schedule) {
  const size_t bytes = bytes_of(schedule);
  std::byte* const copy = schedule.new_scratch(bytes);
  layout::gather(block_of_leader(schedule).buffer(), copy, bytes);
  schedule.buffer = copy;
}

void last(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  const size_t bytes = bytes_of(schedule);
  nagaya_collective out = schedule.new_node_collective(NAGAYA_BCAST);
  if (schedule.is_leader()) {
    const bool defers = schedule.is_root() && is_deferred(schedule);
    if (schedule.is_root() && what.may_detach != 0 && !defers) copy_at_once(schedule);
    const layout::Block block = block_of_leader(schedule);
    const Tree tree(schedule, schedule.nodes().node_of(what.root));
    for (uint32_t level = tree.levels(); level-- > 0;) {
      if (!tree.has_child(level)) continue;
      const uint32_t child = tree.leader(tree.child(level));
      defers ? schedule.send_when_ready(child, block.buffer(), bytes)
             : schedule.send(child, block.buffer(), bytes);
    }
    out.send = layout::equal_blocks(block.data, bytes);
    out.send.runs = block.runs;
    out.may_detach = defers;
  } else {
    out.receive = what.receive;
    out.store = what.store != nullptr ? deliver_from_root : nullptr;
    out.store_context = &schedule;
  }
  if (!schedule.is_alone_on_node()) schedule.fan_out(out);
}

void end(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  if (schedule.is_leader() && !schedule.is_root() && what.store != nullptr)
    schedule.deliver(what.root, schedule.buffer, bytes_of(schedule));
}

}  // namespace

const MultiNodeAlgorithm kBcast{.name = "tree of nodes",
                                .has_root = true,
                                .fans_out = true,
                                .between = between,
                                .last = last,
                                .end = end};

}  // namespace nagaya::coll::hierarchy
