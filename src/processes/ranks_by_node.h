// SPDX-License-Identifier: BSD-3-Clause
// ranks_by_node.h - the ranks of a set of processes, divided by their nodes.
//
//   rank            0 1 2 3 4        node, by its lowest rank   0     1
//   its process on  d c d c d        its ranks                  0 2 4 1 3    "node by node"
//                                    index in the node          0 1 2 0 1
//
// If each node has the same number of consecutive ranks, two numbers say all of this. If ranks are
// dealt to the nodes in turn, a node table does, whose positions are the ranks. Any other order
// takes a second table, which maps ranks to positions node by node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "processes/table_reference.h"

namespace nagaya::processes {

class RanksByNode;

// Ranks of one node, ascending; or all ranks, node by node.
class RankList {
 public:
  // `begin`: index of the first one among all ranks, node by node.
  RankList(const RanksByNode& all, uint32_t begin, uint32_t size)
      : all_(&all), begin_(begin), size_(size) {}

  uint32_t size() const { return size_; }
  uint32_t operator[](uint32_t n) const;

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
  const RanksByNode* all_;
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
    return are_equal_blocks() ? rank / per_node_ : in_tables(rank).node;
  }
  // Index of the rank among the ranks of its node.
  uint32_t index_of(uint32_t rank) const {
    return are_equal_blocks() ? rank % per_node_ : in_tables(rank).task;
  }
  RankList ranks_of(uint32_t node) const { return {*this, begin_of(node), count_of(node)}; }
  RankList ranks() const { return {*this, 0, size_}; }
  // Index in ranks() of the node's first rank.
  uint32_t begin_of(uint32_t node) const {
    return per_node_ != 0 ? node * per_node_
                          : static_cast<uint32_t>(counts_->position_of({node, 0}));
  }
  // Returns the n-th of all ranks, node by node.
  uint32_t rank_at(uint32_t n) const {
    if (are_blocks_) return n;
    const int64_t rank = order_.get() != nullptr
                             ? order_->rank_at(n)
                             : counts_->position_of({n / per_node_, n % per_node_});
    return static_cast<uint32_t>(rank);
  }
  // Whether the ranks of each node are consecutive: then ranks() is 0, 1, 2, ...
  bool are_blocks() const { return are_blocks_; }

 private:
  RanksByNode(uint32_t size, uint32_t per_node)
      : size_(size), nodes_((size + per_node - 1) / per_node), per_node_(per_node) {}

  bool are_equal_blocks() const { return are_blocks_ && per_node_ != 0; }
  uint32_t count_of(uint32_t node) const {
    return per_node_ != 0 ? std::min(per_node_, size_ - node * per_node_) : counts_->tasks_of(node);
  }
  // {node, index}
  Process in_tables(uint32_t rank) const {
    Process out{};
    counts_->process_at(order_.get() != nullptr ? order_->position_of(rank) : rank, out);
    return out;
  }

  uint32_t size_, nodes_ = 0;
  bool are_blocks_ = true;
  // Ranks of each node, if all have equally many (of blocks, the last node perhaps fewer); else 0.
  uint32_t per_node_ = 0;
  TableReference<NodeTable> counts_;  // of equal blocks: none
  TableReference<RankTable> order_;   // of blocks, and of ranks that are dealt in turn: none
};

inline uint32_t RankList::operator[](uint32_t n) const {
  return all_->rank_at(begin_ + n);
}

}  // namespace nagaya::processes
