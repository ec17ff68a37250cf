// SPDX-License-Identifier: BSD-3-Clause
// communicator.h - how a face gets a communicator's table: described, found or built, shared by the
// tasks of the node, and given back. After nagaya_comm_init().
//
//   World& world = membership.world();
//   const Range second{0, (world.size + 1) / 2, 2};
//   Communicator even(world, endpoint.record());
//   const int error = even.describe(Ranges{world.tables.ranks, {&second, 1}});
//   even->process_of(17, process);
//
// Descriptions: description.h. Each task that takes part makes a Communicator of its own, with an
// equal description; it holds a reference and some words, whatever the size.
#pragma once

#include <utility>

#include "comm/world.h"

namespace nagaya::comm {

// One task's reference to a table. Belongs to one thread at a time.
class Communicator {
 public:
  // Of everybody.
  Communicator(World& world, task::TaskRecord& self)
      : index_(world.index), memory_(space_heap_of(self)), tables_(world.tables) {}
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() { give_back(); }

  // Returns 0, or -EINVAL, -ENOMEM as TableIndex::intern: nothing has changed then.
  int describe(const Description& description) {
    const RankTable* ranks = nullptr;
    const int error = index_->intern(RankPlan(*tables_.nodes, description), memory_, ranks);
    if (error != 0) return error;
    give_back();
    tables_.ranks = ranks;
    is_own_ = true;
    return 0;
  }

  const Translation* operator->() const { return &tables_; }

 private:
  void give_back() {
    if (std::exchange(is_own_, false)) index_->drop(tables_.ranks->head, memory_);
  }

  TableIndex* index_;
  Memory memory_;
  Translation tables_;
  bool is_own_ = false;  // the reference to tables_.ranks; the world keeps those to its own
};

}  // namespace nagaya::comm
