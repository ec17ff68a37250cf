// SPDX-License-Identifier: BSD-3-Clause
// table_index.h - the tables of a node, found by their content: all tasks share one copy of each.
//
//   | TableIndex: stamp, slots | slot 0 | slot 1 | ... |      in the space heap
//                                │
//   slot   0: empty, or          ▼
//   | 63 .............. 22 | 21 ........ 0 |
//   | address of the table | references    |                  one word: both change at once
//
//   A table may stand in any of the kWindow slots from the one that its content hashes to.
//
//   empty -> referenced once   publish   one compare-and-swap, the table is complete
//   n -> n + 1                 find      from n >= 1 only: the table cannot go away any more; then
//                                        it is compared in full, and given back if it is another
//   n -> n - 1                 drop
//   referenced once -> empty   drop      the dropper then frees the table
//
//           find                publish                     drop
//   find    any                 sees it or not              counts it or finds it gone
//   publish                     of one slot one wins;       see below
//                               the others look again
//   drop                                                    any, one per reference
//
// Where a drop empties an earlier slot of the window just while two tasks publish the same content,
// both may succeed, and the node has two copies until they are dropped. Where the window or a
// count is full, the task has a copy of its own (kNoSlot). Nothing but memory depends on either.
// Two tasks that miss at once both build; the slower frees its own. Nobody ever waits: lock-free.
//
// Death, at any instruction. Before publish: the block is the dead task's, and goes with it. After
// publish: a reference is not dropped, the table stays. Between the last drop and the free: as
// before publish. So what a dead task held stays until the space ends.
// Needs outside exclusion, if tables lie in blocks of their makers: every call, against the reaping
// of a task that allocated a table. The index of a space (Board::tables) needs none: its tables lie
// in blocks of the space (lasting_memory_of).
#pragma once

#include <atomic>
#include <cstdint>

#include "processes/node_table.h"
#include "processes/rank_plan.h"
#include "processes/shared_table.h"

namespace nagaya::processes {

struct TableIndex {
  static constexpr uint32_t kWindow = 16;
  static constexpr uint32_t kUsualSlots = 16384;

  task::Stamp stamp;
  uint32_t slot_count;  // a power of two, at least kWindow
  uint32_t reserved;
  std::atomic<uint64_t> slots[];

  static constexpr uint64_t bytes_for(uint32_t slot_count) {
    return sizeof(TableIndex) + slot_count * sizeof(uint64_t);
  }
  // Makes an index in `memory`, bytes_for(slot_count) zeros, before any other task can see it.
  static TableIndex* create(void* memory, uint32_t slot_count);
  // Whether the caller's build has this layout. Each copy of the library checks it before any other
  // call.
  bool matches() const { return stamp.matches(sizeof(TableIndex)); }

  // Finds the node's table for `plan`, or builds it, and stores it in `out`; the caller has a
  // reference afterwards. Returns 0, or -EINVAL (see the plan), -ENOMEM.
  template <class Plan>
  int intern(const Plan& plan, Memory memory, const typename Plan::Table*& out);

  // Gives the caller's reference back. The last drop frees the table.
  void drop(const SharedTable& table, Memory memory);

 private:
  template <class Plan>
  const typename Plan::Table* find(const Plan& plan, Memory memory, uint32_t& empty);
};

// The index in which a task finds tables, and the memory in which it makes them.
struct TableStore {
  TableIndex* index;
  Memory memory;
};

extern template int TableIndex::intern(const NodePlan&, Memory, const NodeTable*&);
extern template int TableIndex::intern(const RankPlan&, Memory, const RankTable*&);

}  // namespace nagaya::processes
