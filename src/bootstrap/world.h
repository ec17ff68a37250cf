// SPDX-License-Identifier: BSD-3-Clause
// world.h - describes all processes of a job; the tasks of a node share one World.
//
//   Board.world ──► World: | header, next | windows, by node | own window |
//                              └──► node table, the world's rank table (table_index.h)
//   window: | 31 counters: rounds of the barrier | broken | a slot of 256 bytes for every rank |
//
// The first task that comes makes it in the space heap (compare-and-swap of Board.world), and
// speaks for its node; the task that learns the last missing fact fills it in (introduction.h). A
// job that another one has spawned into the space (MPI_Comm_spawn) has a world of its own, in front
// of the list. So have the later programs of launched processes that run several programs in turn:
// a task whose rank another task has taken belongs to a later world.
//
//   place of a rank: free -> taken   that task, by compare-and-swap when it finds the world;
//                                    for ever
//
//   state: making -> ready    the last task to come (one node), or the speaker (several)
//          making -> failing  the first task that fails: any (one node), or the speaker (several)
//          failing -> failed  that task; `failure` and `reason` say why. Ready and failed: for ever
//
//                 callers at once
//   find_or_make  any
//   describe      one task, before the state is ready
//   tables        any, once the state is ready: read-only
//   barrier words see membership.h
//
// Progress: find_or_make is lock-free; a wait for `state` has a time limit.
// Death of a task: a block that the task has made and not published stays until the job has ended.
// Before the state is ready, a waiting task sees that too few are left, or the launcher ends
// the job. After that, see membership.h.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "llcl/board/board.h"
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
  std::atomic<uint32_t> came;      // tasks of this node that have come
  std::atomic<uint32_t> arrived;   // tasks at the present barrier
  int32_t failure;                 // state kFailed: -errno
  std::atomic<uint64_t> barriers;  // barriers that this node has left
  std::atomic<bool> loss_is_told;  // a task here has been told of a lost node (membership.h)
  char reason[kReasonBytes];
  char job[kJobBytes];            // the launcher's name for the job
  World* next;                    // the world of an earlier job of the space
  uint32_t program;               // 1: the first program of the job's launched processes that came
  std::atomic<uint32_t>* places;  // by rank: mailbox::Owner of the task that has come; 0: none here
  processes::Translation tables;  // of all processes of the job
  nagaya_remote* windows;         // by node
  std::byte* window;

  // Returns the latest world of that job in which the caller has the place of `rank`, or takes it.
  // If there is none, the caller makes one (`is_first`). Throws base::Error.
  static World& find_or_make(task::TaskRecord& self, llcl::Board& board, std::string_view job,
                             uint32_t size, uint32_t rank, bool& is_first);
  // Returns the latest job's world; nullptr: no task has come.
  static World* latest(const llcl::Board& board) {
    // Acquire: pairs with find_or_make.
    return static_cast<World*>(board.world.load(std::memory_order_acquire));
  }
  // Called once all processes are known, with `nodes` and `node` set: sets `tables` and
  // `tasks_here`. Throws base::Error.
  void describe(std::span<const processes::Process> by_rank, processes::TableStore store);

  // Release: pairs with is_ready_or_failed.
  void be_ready() { state.store(WorldState::kReady, std::memory_order_release); }
  // Sets the state to failed. The first of several calls keeps its reason. Not after be_ready().
  void fail(int error, const char* text);
  // Throws base::Error if the world has failed so far; does not wait.
  void throw_if_failed() const;
  bool is_ready() const { return state.load(std::memory_order_acquire) == WorldState::kReady; }
  bool is_ready_or_failed() const {
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
