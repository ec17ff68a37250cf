// SPDX-License-Identifier: BSD-3-Clause
// process_set.h - an ordered set of processes of a job, as a face may hold it: one table for the
// node, found by its content or built, shared by the tasks that hold it, and given back.
//
//   const Range second{0, (world.size + 1) / 2, 2};
//   ProcessSet even(index, space_heap_of(record), world.tables);
//   const int error = even.describe(Ranges{world.tables.ranks, {&second, 1}});
//   even->process_of(17, process);
//
// Descriptions: description.h. Each task that takes part makes a ProcessSet of its own, with an
// equal description; it holds a reference and some words, whatever the size.
#pragma once

#include <utility>

#include "processes/table_index.h"

namespace nagaya::processes {

// One task's reference to a table. Belongs to one thread at a time.
class ProcessSet {
 public:
  // At first the set of all processes of the job. The caller keeps the tables of `all`.
  ProcessSet(TableIndex& index, Memory memory, const Translation& all)
      : index_(&index), memory_(memory), tables_(all) {}
  ProcessSet(const ProcessSet&) = delete;
  ProcessSet& operator=(const ProcessSet&) = delete;
  ~ProcessSet() { give_back(); }

  // Makes this the described set. Returns 0, or -EINVAL, -ENOMEM like TableIndex::intern; then
  // nothing has changed.
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
  bool is_own_ = false;  // whether this has a reference to tables_.ranks
};

}  // namespace nagaya::processes
