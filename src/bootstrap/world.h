// SPDX-License-Identifier: BSD-3-Clause
// world.h - all processes of a job, one description for the node, shared by its tasks.
//
//   Board.world ──► World: | header, next | TableIndex | windows, by node | own window |
//                              │          │
//                              │          └──► the tables of all sets of processes (table_index.h)
//                              └──► node table, the world's rank table
//   window: | 31 counters: rounds of the barrier | broken | a slot of 256 bytes for every rank |
//
// Made by the first task that comes (compare-and-swap of Board.world: it speaks for its node), in
// the space heap; the task that learns the last missing fact fills it in (introduction.h). A job
// that another one has spawned into the space (MPI_Comm_spawn) has a world of its own, in front of
// the list. So have the next programs of a job's launched processes, when they run one after the
// other: a task whose rank has been taken by another task is of a later world.
//
//   place of a rank: free -> taken   that task, by compare-and-swap when it finds the world;
//                                    for ever
//
//   state: making -> ready    the last task to come (one node), or the speaker (several)
//          making -> failing  the same, or any task of one node: the first of those that fail
//          failing -> failed  that task; `failure` and `reason` say why. Ready and failed: for ever
//
//                 callers at once
//   find_or_make  any
//   describe      one task, before the state is ready
//   tables        any, once the state is ready: read-only
//   barrier words see membership.h
//
// Progress: find_or_make is lock-free; a wait for `state` has a time limit.
// Death of a task: between making and publishing it, the block is its own and goes with it. Before
// the state is ready, a waiting task sees that too few are left, or the launcher ends the job.
// After that, see membership.h.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "llcl/board.h"
#include "processes/table_index.h"

namespace nagaya::bootstrap {

inline constexpr size_t kSlotBytes = 256;
inline constexpr size_t kRoundsMax = 31;  // nodes are numbered by 31 bits
inline constexpr size_t kWindowWords = kRoundsMax + 1;
inline constexpr size_t kReasonBytes = 256;
inline constexpr size_t kJobBytes = 256;

enum class WorldState : uint32_t { kMaking, kReady, kFailing, kFailed };

struct World {
  task::Stamp stamp;
  uint32_t size;
  uint32_t nodes;
  uint32_t node;
  uint32_t tasks_here;
  std::atomic<WorldState> state;
  std::atomic<uint32_t> came;      // tasks of this node
  std::atomic<uint32_t> arrived;   // at the present barrier
  int32_t failure;                 // state kFailed: -errno
  std::atomic<uint64_t> barriers;  // that this node has left
  std::atomic<bool> loss_is_told;  // a task here has been told of a lost node (membership.h)
  char reason[kReasonBytes];
  char job[kJobBytes];            // its launcher's name for it
  World* next;                    // of an earlier job of the space
  uint32_t program;               // 1: the first program of the job's launched processes that came
  std::atomic<uint32_t>* places;  // by rank: mailbox::Owner of the task that has come; 0: none here
  processes::Translation tables;  // of the world
  processes::TableIndex* index;   // of all tables
  nagaya_remote* windows;         // by node
  std::byte* window;

  // The latest one of that job in which the caller has the place of `rank`, or takes it; made by
  // the caller if there is none (`is_first`). Throws base::Error.
  static World& find_or_make(task::TaskRecord& self, llcl::Board& board, std::string_view job,
                             uint32_t size, uint32_t rank, bool& is_first);
  // The latest job's; nullptr: nobody has come.
  static World* latest(const llcl::Board& board) {
    return static_cast<World*>(board.world.load(std::memory_order_acquire));  // of find_or_make
  }
  // Once everybody is known: the tables, and how many tasks are here. `nodes` and `node` are set.
  // Throws base::Error.
  void describe(std::span<const processes::Process> by_rank, processes::Memory memory);

  void be_ready() { state.store(WorldState::kReady, std::memory_order_release); }  // pairs: is_made
  // The first of several keeps its reason. Not after be_ready().
  void fail(int error, const char* text);
  // As it is now.
  void throw_if_failed() const;
  bool is_ready() const { return state.load(std::memory_order_acquire) == WorldState::kReady; }
  bool is_made() const {  // ready, or failed
    const WorldState now = state.load(std::memory_order_acquire);
    return now == WorldState::kReady || now == WorldState::kFailed;
  }

  std::atomic_ref<uint64_t> word(size_t n) const {
    return std::atomic_ref(reinterpret_cast<uint64_t*>(window)[n]);
  }
  std::atomic_ref<uint64_t> broken() const { return word(kRoundsMax); }
  static constexpr uint64_t word_at(size_t n) { return n * sizeof(uint64_t); }
  static constexpr uint64_t slot_at(uint64_t rank) {
    return word_at(kWindowWords) + rank * kSlotBytes;
  }
  uint64_t window_bytes() const { return slot_at(size); }
};

}  // namespace nagaya::bootstrap
