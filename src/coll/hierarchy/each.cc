// SPDX-License-Identifier: BSD-3-Clause
// each.cc - gather, scatter and alltoall in which each rank itself sends its blocks to ranks of
// other nodes, without leaders.
#include <cstring>

#include "coll/hierarchy/hierarchy.h"

namespace nagaya::coll::hierarchy {
namespace {

class ByRank : public Schedule {
 public:
  using Schedule::Schedule;

 protected:
  bool is_on_own_node(uint32_t rank) const { return nodes().node_of(rank) == node(); }

  void send_block(uint32_t to, const layout::Buffer& block) {
    if (block.bytes() != 0) send(to, block);
  }

  // Receives the blocks of the ranks of other nodes.
  void receive_blocks() {
    size_t total = 0;
    if (has_store()) {
      for (uint32_t rank = 0; rank < size(); ++rank) {
        offsets_.push_back(static_cast<ptrdiff_t>(total));
        if (!is_on_own_node(rank)) total += layout::block_of(what().receive, rank).bytes();
      }
      received_ = new_scratch(total);
    }
    for (uint32_t n = 1; n < size(); ++n) {
      const uint32_t from = (rank() + size() - n) % size();
      const layout::Buffer block = layout::block_of(what().receive, from);
      if (is_on_own_node(from) || block.bytes() == 0) continue;
      receive(from, {has_store() ? received_ + offsets_[from] : block.data(), block.bytes()});
    }
  }

  // Passes the blocks of receive_blocks() to the caller's `store`.
  void end() override {
    if (received_ == nullptr) return;
    for (uint32_t rank = 0; rank < size(); ++rank) {
      const size_t bytes = layout::block_of(what().receive, rank).bytes();
      if (!is_on_own_node(rank) && bytes != 0) deliver(rank, received_ + offsets_[rank], bytes);
    }
  }

  std::byte* received_ = nullptr;   // blocks of other nodes' ranks for the caller's `store`
  std::vector<ptrdiff_t> offsets_;  // of each rank's block in `received_`                [bytes]
};

class GatherByRank final : public ByRank {
 public:
  using ByRank::ByRank;

 private:
  void first() override {
    const layout::Buffer own = layout::block_of(what().send, 0);
    if (is_root())
      receive_blocks();
    else if (!is_on_own_node(what().root))
      return send_block(what().root, own);
    if (is_alone_on_node()) {
      if (!layout::is_absent(what().send)) deliver(rank(), own.data(), own.bytes());
      return;
    }
    nagaya_collective in = new_node_collective(NAGAYA_GATHER, has_store());
    in.send = what().send;
    if (is_root()) in.receive = own_blocks(what().receive);
    fan_in(in);
  }
};

class ScatterByRank final : public ByRank {
 public:
  using ByRank::ByRank;

 private:
  void first() override {
    if (!is_on_own_node(what().root)) return receive_own();
    if (is_root())
      for (uint32_t rank = 0; rank < size(); ++rank)
        if (!is_on_own_node(rank)) send_block(rank, layout::block_of(what().send, rank));
    if (is_alone_on_node()) {
      const layout::Buffer own = layout::block_of(what().send, rank());
      if (!layout::is_absent(what().receive) || has_store())
        deliver(what().root, own.data(), own.bytes());
      return;
    }
    nagaya_collective in = new_node_collective(NAGAYA_SCATTER, has_store());
    in.receive = what().receive;
    if (is_root()) in.send = own_blocks(what().send);
    fan_in(in);
  }

  void receive_own() {
    const layout::Buffer own = layout::block_of(what().receive, 0);
    received_ = has_store() ? new_scratch(own.bytes()) : own.data();
    if (own.bytes() != 0) receive(what().root, {received_, own.bytes()});
  }

  void end() override {
    if (!is_on_own_node(what().root) && has_store())
      deliver(what().root, received_, layout::block_of(what().receive, 0).bytes());
  }
};

class AlltoallByRank final : public ByRank {
 public:
  using ByRank::ByRank;

 private:
  void first() override {
    receive_blocks();
    for (uint32_t n = 1; n < size(); ++n) {
      const uint32_t to = (rank() + n) % size();
      if (!is_on_own_node(to)) send_block(to, copy_of(layout::block_of(what().send, to)));
    }
    if (is_alone_on_node()) {
      const layout::Buffer own = layout::block_of(what().send, rank());
      return deliver(rank(), own.data(), own.bytes());
    }
    nagaya_collective in = new_node_collective(NAGAYA_ALLTOALL, has_store());
    in.send = own_blocks(what().send);
    in.receive = own_blocks(what().receive);
    fan_in(in);
  }

  // In place: returns a copy of a block for another node, because the block received from there
  // overwrites it. Else returns the block itself.
  layout::Buffer copy_of(const layout::Buffer& block) {
    if (what().send.base != what().receive.base || block.bytes() == 0) return block;
    std::byte* const copy = new_scratch(block.bytes());
    std::memcpy(copy, block.data(), block.bytes());
    return {copy, block.bytes()};
  }
};

}  // namespace

const MultiNodeAlgorithm kGatherByRank{
    .name = "each by itself", .make = Schedule::make<GatherByRank>, .has_root = true};
const MultiNodeAlgorithm kScatterByRank{
    .name = "each by itself", .make = Schedule::make<ScatterByRank>, .has_root = true};
const MultiNodeAlgorithm kAlltoallByRank{.name = "each by itself",
                                         .make = Schedule::make<AlltoallByRank>};

}  // namespace nagaya::coll::hierarchy
