// SPDX-License-Identifier: BSD-3-Clause
// board.h - the memory by which the tasks of a node and its delegatee talk: the notice board of the
// house.
//
//   SpaceHeader.upper_floors ──► Board ──► mailboxes (two), waiters, sleepers: by task number
//                                      ──► lanes, their waiters: one per thread
//                                      ──► regions
//
// Made by the host before its first task, in pages of zeros that cost nothing until used; never
// moved, never freed. Which node this is comes later, from whoever wires the job up (comm).
#pragma once

#include "base/fd.h"
#include "llcl/backlogs.h"
#include "llcl/command.h"
#include "llcl/cooperative_copy.h"
#include "llcl/group.h"
#include "llcl/region.h"
#include "mailbox/lane_set.h"
#include "mailbox/mailbox.h"
#include "mailbox/ring.h"
#include "mailbox/thread_bell.h"
#include "mailbox/waiting.h"

namespace nagaya::llcl {

using Lanes = mailbox::LaneSet<Command>;
using Ring = mailbox::Ring<Command>;

// A thread with a lane, or a task, tells others here about its waiting. Each has a line of its own.
struct alignas(mailbox::kLineBytes) LaneWaiter {
  enum : uint32_t { kNo, kAwake, kAsleep };  // awake: it spins or yields
  // Whether the lane's thread waits for something. Its own stores, or the host's for the dead.
  // Relaxed: as Board.load, which counts it.
  std::atomic<uint32_t> waits;
  // Whether the lane is no thread's. kLeft: its thread has ended, with commands in the lane
  // (Endpoint); release and acquire between the threads of the task. kCommon: threads take turns.
  enum : uint32_t { kThreads, kLeft, kCommon };
  std::atomic<uint32_t> left;
};
struct alignas(mailbox::kLineBytes) TaskWaiter {
  // Whether the task yields, sleeps, or has looked in vain and not looked again. Its own stores, or
  // the host's for the dead. Relaxed: a hint.
  std::atomic<uint32_t> is_away;
  // Whether a thread takes the task's active messages. Release: of its own, before it lets others
  // know; the host takes it back. kOverloaded: it does, but its handlers have sent more than their
  // receivers have room for; only other handlers may send to it until that is over (Parked).
  enum : uint32_t { kDeaf, kHears, kOverloaded };
  std::atomic<uint32_t> hears;
};
struct alignas(mailbox::kLineBytes) Sleepers {
  // Threads of the task that are about to sleep (Wait). A thread that stores something for the
  // task, fences and finds this above 0 rings the task's bell (wake_task).
  std::atomic<uint32_t> count;
};

// A node of the job that this one cannot reach any more, and why: a negative errno. Aligned as a
// word: clang has a lock-free atomic for it then, and needs no libatomic.
struct alignas(8) LostNode {
  uint32_t node;
  int32_t error;  // 0: none is lost
};

// A thread with a lane goes from one state of `waits` to another.
inline void tell(mailbox::Load& load, uint32_t from, uint32_t to) {
  const auto change = [](std::atomic<uint32_t>& count, uint32_t by) {
    if (by != 0) count.fetch_add(by, std::memory_order_relaxed);  // by -1, too
  };
  change(load.waiting, (to != LaneWaiter::kNo) - (from != LaneWaiter::kNo));
  change(load.runnable, (from == LaneWaiter::kAsleep) - (to == LaneWaiter::kAsleep));
}

inline void become(mailbox::Load& load, LaneWaiter& waiter, uint32_t state) {
  tell(load, waiter.waits.exchange(state, std::memory_order_relaxed), state);
}

struct Board {
  task::Stamp stamp;
  uint32_t capacity;            // tasks
  std::atomic<uint32_t> node;   // this one; 0 until the job is wired up
  std::atomic<uint32_t> nodes;  // of the job; 1 until then. Release after `node`, acquire before it
  Lanes* lanes;
  std::atomic<Ring*> ring;   // in the lanes' place, for comparison; nullptr: lanes. Before `nodes`
  std::atomic<void*> world;  // bootstrap's; nullptr until then
  std::atomic<uint32_t>* attached;  // by task number: mailbox::Owner of the task that takes part
  mailbox::Mailbox* mailboxes;      // by task number
  mailbox::Mailbox* ports;          // by task number: port.h. Its bell is the task's (Wait)
  LaneWaiter* lane_waiters;         // by lane
  TaskWaiter* task_waiters;         // by task number
  Sleepers* sleepers;               // by task number
  RegionTable* regions;
  CopyOffers* copies;
  Backlogs* backlogs;
  Groups* groups;
  bool has_heavy_fence;           // all tasks are one mm, as Machine::heavy_fence() needs
  std::atomic<uint64_t> tuning;   // digest of all tasks' table (tuning.h); 0: none has come
  std::atomic<uint64_t> dropped;  // messages that nobody knows
  std::atomic<LostNode> lost;     // the first one. Relaxed: nothing else is read on its strength
  alignas(mailbox::kLineBytes) mailbox::Load load;  // changes often; the fields above do not
  // Threads of all tasks that are about to sleep: the sum of `sleepers`. A line of its own, which
  // changes when nothing happens.
  alignas(mailbox::kLineBytes) std::atomic<uint32_t> asleep;
  mailbox::ThreadBell delegatee_bell;
};

// In the host, for a space of `capacity` tasks: lays the board out in memory of its own and shows
// it to all tasks to come. The memory must live as long as the space.
base::Mapping create_board(task::SpaceHeader& space);

// In the host, when task `number` has ended and before the number is used again: takes back what it
// held, but its lanes, which are their consumer's to take back. Returns its owner; nobody: it took
// no part.
mailbox::Owner reclaim(Board& board, uint32_t number);

// In the host, before the task of this record starts and when reclaim has run for the last one of
// its number: drops what that one has not read, and gives back the bodies of the messages that are
// the host's or a living sender's. Wait-free.
void empty_mailboxes(Board& board, task::TaskRecord& next);

// In the host, after reclaim: whether no other task is in the middle of a chunk of its copies any
// more, and no copy of others from or to its memory is offered. While one is, the dead task's
// memory is read and written. Wait-free.
bool release_copies(Board& board, mailbox::Owner dead);

// Wakes the threads of a task that sleep for something that the caller has just stored. No task's
// number: the store was to memory of the space, for which all may wait.
void wake_task(Board& board, uint32_t number);
void wake_tasks(Board& board);

// Whether the task takes active messages, which would fill its mailbox else, as `hears` says it.
// Acquire: pairs with the start of the thread that does.
inline uint32_t hears_messages(const Board& board, uint32_t task) {
  return board.task_waiters[task].hears.load(std::memory_order_acquire);
}

// The node, as CopyOffers sees it.
struct BoardTasks {
  Board& board;

  const mailbox::Load& load() const { return board.load; }
  bool is_alive(mailbox::Owner owner) const {  // acquire: pairs with reclaim
    return board.attached[owner.number()].load(std::memory_order_acquire) == owner.bits;
  }
  void wake(uint32_t task) const { wake_task(board, task); }
};

}  // namespace nagaya::llcl
