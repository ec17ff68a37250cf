// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/hierarchy.h"
#include "coll/hierarchy/tree.h"
#include "llcl/requests/tuning.h"

namespace nagaya::coll::hierarchy {
namespace {

class Bcast final : public Schedule {
 public:
  using Schedule::Schedule;

 private:
  void first() override { block_ = layout::block_of(is_root() ? what().send : what().receive, 0); }

  bool between(uint32_t round) override {
    if (!is_leader() || is_root() || round != 0) return false;
    if (has_store()) block_ = {new_scratch(block_.bytes()), block_.bytes()};
    const uint32_t parent = tree_.leader(tree_.parent());
    receive(parent, block_);
    if (is_deferred() && parent == what().root) send(parent, {nullptr, 0});
    return true;
  }

  // Whether the root defers the sends of its block, because it may detach before they begin. The
  // root copies a shorter block at once.
  bool is_deferred() const {
    return what().may_detach != 0 &&
           block_.bytes() > llcl::Tuning::own()[llcl::Tuned::kPostedMaxBytes];
  }

  void last() override {
    nagaya_collective out = new_node_collective(NAGAYA_BCAST, !is_leader() && has_store());
    if (is_leader()) {
      const bool defers = is_root() && is_deferred();
      if (is_root() && what().may_detach != 0 && !defers) block_ = {copy_block(), block_.bytes()};
      send_to_children(defers);
      out.send = layout::equal_blocks(block_.data(), block_.bytes());
      out.send.runs = block_.runs_or_null();
      out.may_detach = defers;
    } else {
      out.receive = what().receive;
    }
    fan_out(out);
  }

  void send_to_children(bool defers) {
    for (uint32_t level = tree_.levels(); level-- > 0;) {
      if (!tree_.has_child(level)) continue;
      const uint32_t child = tree_.leader(tree_.child(level));
      defers ? send_when_ready(child, block_) : send(child, block_);
    }
  }

  void end() override {
    if (is_leader() && !is_root() && has_store())
      deliver(what().root, block_.data(), block_.bytes());
  }

  const Tree tree_{*this, nodes().node_of(what().root)};
  // The caller's block. At a leader, memory of the schedule in its place: if the caller has a
  // `store`, or if the root copies its block.
  layout::Buffer block_{nullptr, 0};
};

}  // namespace

const MultiNodeAlgorithm kBcast{
    .name = "tree of nodes", .make = Schedule::make<Bcast>, .has_root = true, .fans_out = true};

}  // namespace nagaya::coll::hierarchy
