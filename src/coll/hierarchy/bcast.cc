// SPDX-License-Identifier: BSD-3-Clause
#include "coll/blocks.h"
#include "coll/hierarchy/hierarchy.h"
#include "coll/hierarchy/tree.h"

namespace nagaya::coll::hierarchy {
namespace {

// A leader's `buffer`: where its block lies, if not in the caller's memory.

bool is_root(const Schedule& schedule) {
  return schedule.rank() == schedule.what().root;
}
Block block_of_caller(const Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  return block_of(is_root(schedule) ? what.send : what.receive, 0);
}
size_t bytes_of(const Schedule& schedule) {
  return block_of_caller(schedule).bytes;
}
Block block_of_leader(const Schedule& schedule) {
  const Block block = block_of_caller(schedule);
  return schedule.buffer != nullptr ? Block{schedule.buffer, block.bytes} : block;
}

void take_from_root(void* context, uint32_t, const void* data, size_t bytes) {
  auto* const schedule = static_cast<Schedule*>(context);
  schedule->take(schedule->what().root, data, bytes);
}

bool between(Schedule& schedule, uint32_t round) {
  const nagaya_collective& what = schedule.what();
  if (!schedule.is_leader() || is_root(schedule) || round != 0) return false;
  const size_t bytes = bytes_of(schedule);
  if (what.store != nullptr) schedule.buffer = schedule.new_scratch(bytes);
  const Tree tree(schedule, schedule.nodes().node_of(what.root));
  schedule.receive(tree.leader(tree.parent()), block_of_leader(schedule).buffer(), bytes);
  return true;
}

void last(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  const size_t bytes = bytes_of(schedule);
  nagaya_collective out = schedule.new_local(NAGAYA_BCAST);
  if (schedule.is_leader()) {
    const Block block = block_of_leader(schedule);
    const Tree tree(schedule, schedule.nodes().node_of(what.root));
    for (uint32_t level = tree.levels(); level-- > 0;)
      if (tree.has_child(level))
        schedule.send(tree.leader(tree.child(level)), block.buffer(), bytes);
    out.send = equal_blocks(block.data, bytes);
    out.send.runs = block.runs;
  } else {
    out.receive = what.receive;
    out.store = what.store != nullptr ? take_from_root : nullptr;
    out.store_context = &schedule;
  }
  if (!schedule.is_alone()) schedule.fan_out(out);
}

void end(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  if (schedule.is_leader() && !is_root(schedule) && what.store != nullptr)
    schedule.take(what.root, schedule.buffer, bytes_of(schedule));
}

}  // namespace

const WideAlgorithm kBcast{"tree of nodes", true, true, nullptr, between, last, end};

}  // namespace nagaya::coll::hierarchy
