// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "coll/hierarchy/elements.h"
#include "coll/hierarchy/hierarchy.h"
#include "coll/hierarchy/tree.h"

namespace nagaya::coll::hierarchy {
namespace {

// `buffer`: the elements combined so far. `other_buffer`: receives a child's elements.

uint32_t root_node(const Schedule& schedule) {
  return schedule.nodes().node_of(schedule.what().root);
}
// If the operation commutes the root's node is the tree's top, and the root gets the result without
// a further message. Else node 0 is the top: nodes are combined in their order.
Tree tree_of(const Schedule& schedule) {
  return Tree(schedule, schedule.what().elements.commutes != 0 ? root_node(schedule) : 0);
}

void first(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  const Elements elements(schedule);
  if (schedule.is_alone_on_node()) {
    schedule.buffer = static_cast<std::byte*>(what.send.base);
    return;
  }
  if (schedule.is_leader())
    schedule.buffer = schedule.is_root() && !elements.have_gaps()
                          ? static_cast<std::byte*>(what.receive.base)
                          : elements.make_buffer(what.elements.count);
  reduce_to_leader(schedule, schedule.buffer);
}

// Combines a child's elements with the own ones, which come first in the order.
void combine_childs_elements(Schedule& schedule) {
  const nagaya_collective& what = schedule.what();
  Elements(schedule).reduce(schedule.buffer, schedule.other_buffer, what.elements.count);
  std::swap(schedule.buffer, schedule.other_buffer);
  if (schedule.other_buffer == what.send.base)
    schedule.other_buffer = nullptr;  // never write the caller's
  schedule.is_receiving = false;
}

// Begins to receive from the child on the next level that has one; false: no child is left.
bool receive_from_child(Schedule& schedule, const Tree& tree) {
  while (schedule.level < tree.levels()) {
    const uint32_t level = schedule.level++;
    if (!tree.has_child(level)) continue;
    const Elements elements(schedule);
    const size_t count = schedule.what().elements.count;
    if (schedule.other_buffer == nullptr) schedule.other_buffer = elements.make_buffer(count);
    elements.receive(tree.leader(tree.child(level)), schedule.other_buffer, count);
    return schedule.is_receiving = true;
  }
  return false;
}

// Sends the combined elements to the parent; at the top, to the root if that is another member. A
// root that is not the top receives the result from the top.
void pass_on(Schedule& schedule, const Tree& tree) {
  const Elements elements(schedule);
  const size_t count = schedule.what().elements.count;
  schedule.has_sent = true;
  if (!tree.is_top())
    elements.send(tree.leader(tree.parent()), schedule.buffer, count);
  else if (!schedule.is_root())
    elements.send(schedule.what().root, schedule.buffer, count);
  if (!schedule.is_root() || tree.is_top()) return;
  schedule.other_buffer = elements.make_buffer(count);
  elements.receive(tree.leader(0), schedule.other_buffer, count);
}

bool between(Schedule& schedule, uint32_t) {
  if (!schedule.is_leader() || schedule.has_sent) return false;
  const Tree tree = tree_of(schedule);
  if (schedule.is_receiving) combine_childs_elements(schedule);
  if (!receive_from_child(schedule, tree)) pass_on(schedule, tree);
  return true;
}

void end(Schedule& schedule) {
  if (!schedule.is_root()) return;
  const nagaya_collective& what = schedule.what();
  const bool is_passed_back = !tree_of(schedule).is_top();
  Elements(schedule).copy(what.receive.base,
                          is_passed_back ? schedule.other_buffer : schedule.buffer,
                          what.elements.count);
}

}  // namespace

const MultiNodeAlgorithm kReduce{.name = "tree of nodes, upwards",
                                 .has_root = true,
                                 .first = first,
                                 .between = between,
                                 .end = end};

}  // namespace nagaya::coll::hierarchy
