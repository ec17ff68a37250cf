// SPDX-License-Identifier: BSD-3-Clause
// board.h - the memory by which the tasks of a node and its delegatee talk. One for each space.
//
//   SpaceHeader.upper_floors ──► Board ──► mailboxes (two), waiters, sleepers: by task number
//                                      ──► lanes, their waiters: one per thread
//                                      ──► regions
//                                      ──► activity: what readers see
//
// The host makes the board before its first task, in pages of zeros that cost nothing until used.
// The board is never moved and never freed. Bootstrap stores the node's number later, when it wires
// the job up (comm).
#pragma once

#include "base/fd.h"
#include "llcl/board/activity.h"
#include "llcl/board/backlogs.h"
#include "llcl/board/command.h"
#include "llcl/board/cooperative_copy.h"
#include "llcl/board/group.h"
#include "llcl/board/region.h"
#include "llcl/board/stripes.h"
#include "mailbox/lane_set.h"
#include "mailbox/mailbox.h"
#include "mailbox/ring.h"
#include "mailbox/thread_bell.h"
#include "mailbox/waiting.h"

namespace nagaya::processes {
struct TableIndex;
}

namespace nagaya::llcl {

using Lanes = mailbox::LaneSet<Command>;
using Ring = mailbox::Ring<Command>;

// Here a thread with a lane, or a task, shows others whether it waits. Each has a line of its own.
struct alignas(mailbox::kLineBytes) LaneWaiter {
  enum : uint32_t { kNo, kAwake, kAsleep };  // awake: it spins or yields
  // Whether the lane's thread waits for something. Stored by that thread, or by the host once its
  // task is dead. Relaxed, as is Board.load, which counts these threads.
  std::atomic<uint32_t> waits;
  // The users of the lane. kOneThread: one thread. kLeft: none, since its thread has ended with
  // commands in the lane (Endpoint); release and acquire between the threads of the task. kCommon:
  // threads that take turns.
  enum : uint32_t { kOneThread, kLeft, kCommon };
  std::atomic<uint32_t> lane_use;
};
struct alignas(mailbox::kLineBytes) TaskWaiter {
  // Whether the task yields, sleeps, or has polled in vain and not polled again since. Stored by
  // the task, or by the host once the task is dead. Relaxed: a hint.
  std::atomic<uint32_t> is_idle;
  // Whether a thread of the task handles active messages. The task stores kHandling by release when
  // that thread starts; the host resets it when the task has ended. kOverloaded: the thread runs,
  // but its handlers have sent more than their receivers have room for; only handlers may send to
  // the task until that is over (Parked).
  enum : uint32_t { kNoHandlers, kHandling, kOverloaded };
  std::atomic<uint32_t> handler_state;
};
struct alignas(mailbox::kLineBytes) Sleepers {
  // Number of the task's threads that are about to sleep or asleep (Wait). A thread that stores
  // something for the task, fences and then reads a count above 0 rings the task's bell
  // (wake_task).
  std::atomic<uint32_t> count;
};

// A node of the job that this one cannot reach any more, with a negative errno as the reason.
// Aligned as a word, so that clang has a lock-free atomic for it and needs no libatomic.
struct alignas(8) LostNode {
  uint32_t node;
  int32_t error;  // 0: none is lost
};

// Updates the counts in `load` when a thread with a lane changes its `waits` from `from` to `to`.
inline void tell(mailbox::Load& load, uint32_t from, uint32_t to) {
  const auto change = [](std::atomic<uint32_t>& count, uint32_t by) {
    if (by != 0) count.fetch_add(by, std::memory_order_relaxed);  // by -1, too
  };
  change(load.waiting, (to != LaneWaiter::kNo) - (from != LaneWaiter::kNo));
  change(load.runnable, (from == LaneWaiter::kAsleep) - (to == LaneWaiter::kAsleep));
}

// Stores `state` into waiter.waits and updates the counts in `load`.
inline void become(mailbox::Load& load, LaneWaiter& waiter, uint32_t state) {
  tell(load, waiter.waits.exchange(state, std::memory_order_relaxed), state);
}

// The most delegatees of a node.
inline constexpr uint32_t kDelegateesMax = 8;

struct Board {
  // The bell of the delegatee that serves the lane.
  mailbox::ThreadBell& bell_of(uint32_t lane) {
    return bells[mailbox::LaneShare::index_of(lane, delegatees.load(std::memory_order_relaxed))];
  }

  task::Stamp stamp;
  uint32_t capacity;            // tasks
  std::atomic<uint32_t> node;   // this one; 0 until the job is wired up
  std::atomic<uint32_t> nodes;  // of the job; 1 until then. Stored after `node`, loaded before it
  // What programs outside of the space read (activity.h); 0: nothing. It shares the line of `node`,
  // which every message loads.
  std::atomic<uint32_t> watched;
  Lanes* lanes;
  std::atomic<uint32_t> delegatees;  // of this node, a power of two. Stored before `nodes`
  std::atomic<Ring*> ring;           // if not nullptr, in place of the lanes. Stored before `nodes`
  std::atomic<void*> world;          // bootstrap's; nullptr until the job is wired up
  std::atomic<uint32_t>* attached;   // by task number: Owner of the task that takes part; 0: none
  mailbox::Mailbox* mailboxes;       // by task number
  mailbox::Mailbox* ports;   // by task number: port.h. All threads of the task sleep on its bell
  LaneWaiter* lane_waiters;  // by lane
  TaskWaiter* task_waiters;  // by task number
  Sleepers* sleepers;        // by task number
  RegionTable* regions;
  CopyOffers* copies;
  Backlogs* backlogs;
  Groups* groups;
  Stripes* stripes;
  processes::TableIndex* tables;  // of the sets of processes that tasks hold
  bool has_heavy_fence;  // Machine::has_heavy_fence(): one answer for all tasks, which share an mm
  std::atomic<uint64_t> tuning;   // digest of all tasks' table (tuning.h); 0: no task has one yet
  std::atomic<uint64_t> dropped;  // number of messages dropped because no receiver knows their kind
  std::atomic<LostNode> lost;     // the first lost node. Relaxed: it publishes no other data
  // nullptr until somebody reads. Stored (release) before `watched` becomes nonzero.
  std::atomic<Activity*> activity;
  alignas(mailbox::kLineBytes) mailbox::Load load;  // changes often; the fields above do not
  // Number of threads of all tasks that are about to sleep or asleep: the sum of `sleepers`. It has
  // a line of its own, because idle threads change it.
  alignas(mailbox::kLineBytes) std::atomic<uint32_t> asleep;
  mailbox::ThreadBell bells[kDelegateesMax];  // of the delegatees
};

// Called by the host: lays out the board of the space in memory of its own and stores its address
// in `space` for all tasks to come. The returned memory must live as long as the space.
base::Mapping create_board(task::SpaceHeader& space);

// Called by the host when task `number` has ended and before the number is used again: frees
// everything on the board that the task held, except its lanes, which their consumer frees. Returns
// the task's Owner; an empty one if it took no part.
mailbox::Owner reclaim(Board& board, uint32_t number);

// Called by the host before the task of record `next` starts, and after reclaim() for the earlier
// task of that number: drops the messages that the earlier task has not read. Gives back the bodies
// that belong to the host or to a living sender. Wait-free.
void empty_mailboxes(Board& board, task::TaskRecord& next);

// Called by the host after reclaim(). Returns true when no other task is in the middle of a chunk
// of the dead task's copies, and no copy of others from or to its memory is offered. Until then
// others may read and write the dead task's memory. Wait-free.
bool release_copies(Board& board, mailbox::Owner dead);

// Called by a thread of task `self`: adds to one of its counts while somebody reads them.
inline void count(const Board& board, mailbox::Owner self, TaskActivity::Count TaskActivity::*count,
                  uint64_t by) {
  if (board.watched.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  // Acquire: pairs with ActivityFile::make().
  Activity& activity = *board.activity.load(std::memory_order_acquire);
  TaskActivity::add(activity.of(self.number()).*count, by);
}

// Wakes the sleeping threads of task `number`, after the caller has stored something for them. A
// number that is no task's wakes the threads of all tasks: the store was to memory of the space,
// for which any task may wait.
void wake_task(Board& board, uint32_t number);
void wake_tasks(Board& board);

// Returns TaskWaiter::handler_state of the task: nobody sends active messages to a task with
// kNoHandlers, because they would fill its mailbox. Acquire: pairs with the start of the thread
// that handles them.
inline uint32_t handler_state_of(const Board& board, uint32_t task) {
  return board.task_waiters[task].handler_state.load(std::memory_order_acquire);
}

// The functions that CopyOffers needs of the node.
struct BoardTasks {
  Board& board;

  const mailbox::Load& load() const { return board.load; }
  bool is_alive(mailbox::Owner owner) const {  // acquire: pairs with reclaim
    return board.attached[owner.number()].load(std::memory_order_acquire) == owner.bits;
  }
  void wake(uint32_t task) const { wake_task(board, task); }
};

}  // namespace nagaya::llcl
