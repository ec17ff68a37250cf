// SPDX-License-Identifier: BSD-3-Clause
// rooted.cc - gather and scatter through leaders, for blocks of one size.
#include "coll/hierarchy/hierarchy.h"

namespace nagaya::coll::hierarchy {
namespace {

class Rooted : public Schedule {
 public:
  using Schedule::Schedule;

 protected:
  // Returns the blocks of a node's ranks in the root's `blocks_`.
  layout::Buffer blocks_of_node(uint32_t node) const {
    return {blocks_ + nodes().begin_of(node) * bytes_, nodes().ranks_of(node).size() * bytes_};
  }
  size_t own_node_bytes() const { return own_ranks().size() * bytes_; }
  // Returns the caller's blocks whose size is known: many at the root, else one.
  const nagaya_blocks& sized_blocks() const {
    const bool sends_them = (what().kind == NAGAYA_GATHER) != is_root();
    return sends_them ? what().send : what().receive;
  }

  const size_t bytes_ = layout::block_of(sized_blocks(), 0).bytes();  // size of a block
  // A leader's: the blocks of its node's ranks, contiguous. The root's: the blocks of all ranks,
  // node by node (nodes().ranks()).
  std::byte* blocks_ = nullptr;
};

class Gather final : public Rooted {
 public:
  using Rooted::Rooted;

 private:
  void first() override {
    const layout::Buffer own = layout::block_of(what().send, 0);
    if (is_root()) {
      blocks_ = new_scratch(size() * bytes_);
      if (is_alone_on_node() && !layout::is_absent(what().send))
        deliver(rank(), own.data(), bytes_);
    } else if (is_leader()) {
      blocks_ = is_alone_on_node() ? own.data() : new_scratch(own_node_bytes());
    }
    if (is_alone_on_node()) return;
    nagaya_collective in = new_node_collective(NAGAYA_GATHER, is_root() && has_store());
    in.send = what().send;
    if (is_root())
      in.receive = own_blocks(what().receive);
    else if (is_leader())
      in.receive = layout::equal_blocks(blocks_, bytes_);
    in.is_exact = what().is_exact;
    fan_in(in);
  }

  // A leader that lacks a block of its node sends none: the root awaits a message of each node.
  void last() override {
    if (!is_leader()) return;
    if (!is_root()) return send(what().root, {blocks_, has_failed() ? 0 : own_node_bytes()});
    for (uint32_t n = 0; n < nodes().nodes(); ++n)
      if (n != node()) receive(leader_of(n), blocks_of_node(n));
  }

  void end() override {
    if (!is_root()) return;
    const std::byte* from = blocks_;
    for (const uint32_t rank : nodes().ranks()) {
      if (nodes().node_of(rank) != node()) deliver(rank, from, bytes_);
      from += bytes_;
    }
  }
};

class Scatter final : public Rooted {
 public:
  using Rooted::Rooted;

 private:
  bool between(uint32_t round) override {
    if (!is_leader() || is_root() || round != 0) return false;
    blocks_ = new_scratch(own_node_bytes());
    receive(what().root, {blocks_, own_node_bytes()});
    return true;
  }

  void last() override {
    if (is_root()) send_to_nodes();
    if (is_alone_on_node()) return;
    nagaya_collective out = new_node_collective(NAGAYA_SCATTER, has_store());
    if (is_root())
      out.send = own_blocks(what().send);
    else if (is_leader())
      out.send = layout::equal_blocks(blocks_, has_failed() ? 0 : bytes_);
    out.receive = what().receive;
    out.is_exact = what().is_exact;
    fan_out(out);
  }

  void send_to_nodes() {
    blocks_ = new_scratch(size() * bytes_);
    for (uint32_t n = 0; n < nodes().nodes(); ++n) {
      if (n == node()) continue;
      std::byte* to = blocks_of_node(n).data();
      for (const uint32_t rank : nodes().ranks_of(n)) {
        layout::gather(layout::block_of(what().send, rank), to, bytes_);
        to += bytes_;
      }
      send(leader_of(n), blocks_of_node(n));
    }
  }

  void end() override {
    const bool receives = !layout::is_absent(what().receive) || has_store();
    if (!is_alone_on_node() || !receives) return;
    deliver(what().root, is_root() ? layout::block_of(what().send, rank()).data() : blocks_,
            bytes_);
  }
};

}  // namespace

const MultiNodeAlgorithm kGather{
    .name = "by leaders", .make = Schedule::make<Gather>, .has_root = true};
const MultiNodeAlgorithm kScatter{
    .name = "by leaders", .make = Schedule::make<Scatter>, .has_root = true, .fans_out = true};

}  // namespace nagaya::coll::hierarchy
