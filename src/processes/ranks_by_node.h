// SPDX-License-Identifier: BSD-3-Clause
// ranks_by_node.h - the ranks of a set of processes, divided by their nodes.
//
//   rank            0 1 2 3 4        node, by its lowest rank   0     1
//   its process on  d c d c d        its ranks                  0 2 4 1 3    "node by node"
//                                    index in the node          0 1 2 0 1
//
// If each node has the same number of consecutive ranks, as launchers deal them, two numbers say
// all of this. Else two shared tables do: a node table of the counts, whose positions are the ranks
// node by node, and a rank table that maps ranks to these positions.
#pragma once

#include <cstdint>
#include <span>

#include "processes/table_reference.h"

namespace nagaya::processes {

// Ranks of one node, ascending; or all ranks, node by node.
class RankList {
 public:
  // `order` maps ranks to positions; nullptr: each is its own. `begin`: the first one's position.
  RankList(const RankTable* order, uint32_t begin, uint32_t size)
      : order_(order), begin_(begin), size_(size) {}

  uint32_t size() const { return size_; }
  uint32_t operator[](uint32_t n) const {
    return order_ == nullptr ? begin_ + n : static_cast<uint32_t>(order_->rank_at(begin_ + n));
  }

  class Iterator {
   public:
    Iterator(const RankList& list, uint32_t n) : list_(list), n_(n) {}
    uint32_t operator*() const { return list_[n_]; }
    Iterator& operator++() {
      ++n_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return n_ != other.n_; }

   private:
    const RankList& list_;
    uint32_t n_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }

 private:
  const RankTable* order_;
  uint32_t begin_, size_;
};

// Immutable: any thread may call.
class RanksByNode {
 public:
  // May throw std::bad_alloc, base::Error.
  RanksByNode(TableStore store, std::span<const Process> by_rank);
  // Returns the division of `size` processes of which each counts as a node of its own.
  static RanksByNode apart(uint32_t size) { return {size, 1}; }

  uint32_t nodes() const { return nodes_; }
  uint32_t node_of(uint32_t rank) const {
    return per_node_ != 0 ? rank / per_node_ : in_tables(rank).node;
  }
  // Index of the rank among the ranks of its node.
  uint32_t index_of(uint32_t rank) const {
    return per_node_ != 0 ? rank % per_node_ : in_tables(rank).task;
  }
  RankList ranks_of(uint32_t node) const { return {order_.get(), begin_of(node), count_of(node)}; }
  RankList ranks() const { return {order_.get(), 0, size_}; }
  // Index in ranks() of the node's first rank.
  uint32_t begin_of(uint32_t node) const {
    return per_node_ != 0 ? node * per_node_
                          : static_cast<uint32_t>(counts_->position_of({node, 0}));
  }
  // Whether the ranks of each node are consecutive: then ranks() is 0, 1, 2, ...
  bool are_blocks() const { return order_.get() == nullptr; }

 private:
  RanksByNode(uint32_t size, uint32_t per_node)
      : size_(size), nodes_((size + per_node - 1) / per_node), per_node_(per_node) {}

  uint32_t count_of(uint32_t node) const {
    return per_node_ != 0 ? std::min(per_node_, size_ - node * per_node_) : counts_->tasks_of(node);
  }
  // {node, index}
  Process in_tables(uint32_t rank) const {
    Process out{};
    counts_->process_at(are_blocks() ? rank : order_->position_of(rank), out);
    return out;
  }

  uint32_t size_, nodes_ = 0;
  uint32_t per_node_ =
      0;  // consecutive ranks of each node, of the last one perhaps fewer; 0: tables
  TableReference<NodeTable> counts_;
  TableReference<RankTable> order_;  // of none: the ranks are in this order
};

}  // namespace nagaya::processes
