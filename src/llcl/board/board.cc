// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/board/board.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "llcl/board/message.h"
#include "llcl/board/port_cell.h"
#include "processes/table_index.h"
#include "task/space/space_heap.h"

namespace nagaya::llcl {
namespace {

constexpr uint32_t kLanesPerTask = 4;
constexpr uint32_t kLanesMin = 256;

// Computes the offsets of the parts of one mapping. Each part begins on a new line.
class BoardLayout {
 public:
  template <class Part>
  uint64_t add(uint64_t bytes) {
    const uint64_t align = std::max<uint64_t>(alignof(Part), mailbox::kLineBytes);
    const uint64_t offset = (bytes_ + align - 1) / align * align;
    bytes_ = offset + bytes;
    return offset;
  }
  uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_ = 0;
};

uint32_t own_processors() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<uint32_t>(CPU_COUNT(&set)) : 1;
}

// Returns whether the sender still owns its blocks: its record is neither free nor another task's.
bool has_its_blocks(const task::SpaceHeader& space, mailbox::Owner sender) {
  if (sender.number() >= space.capacity) return false;
  const task::TaskRecord& record = *space.record(sender.number());
  const uint32_t generation = record.generation.load(std::memory_order_relaxed);
  return record.state.load(std::memory_order_relaxed) != task::TaskState::kFree &&
         mailbox::Owner::task(record.number, generation) == sender;
}

// Gives back the body of a message that nobody will read. For a delegatee's body, sets its `done`.
// A body in a block of the space heap goes back to its sender, unless the sender has ended: then
// its blocks are freed anyway. The host frees in the name of `next`, the next owner of the number,
// which has no block yet, so that no lock of a task is taken. Only this thread of the host takes a
// task's blocks away from it.
void give_back_body(const mailbox::Message& message, task::TaskRecord& next) {
  ActiveMessage active;
  std::memcpy(&active, message.payload, sizeof active);
  if (active.bytes <= kInlineBodyMaxBytes) return;
  if (active.longer.done != nullptr)
    active.longer.done->store(1, std::memory_order_release);  // pairs with BoardNode::free_bodies
  else if (has_its_blocks(*next.space, {active.sender}))
    task::heap_free(next, const_cast<std::byte*>(active.longer.address));
}

}  // namespace

base::Mapping create_board(task::SpaceHeader& space) {
  const uint32_t lanes =
      std::min(std::max(space.capacity * kLanesPerTask, kLanesMin), Lanes::kMaxLanes);
  BoardLayout layout;
  const uint64_t board_at = layout.add<Board>(sizeof(Board));
  const uint64_t attached_at =
      layout.add<std::atomic<uint32_t>>(space.capacity * sizeof(std::atomic<uint32_t>));
  const uint64_t mailboxes_at =
      layout.add<mailbox::Mailbox>(space.capacity * sizeof(mailbox::Mailbox));
  const uint64_t ports_at = layout.add<mailbox::Mailbox>(space.capacity * sizeof(mailbox::Mailbox));
  const uint64_t lanes_at = layout.add<Lanes>(Lanes::bytes_for(lanes));
  const uint64_t lane_waiters_at = layout.add<LaneWaiter>(lanes * sizeof(LaneWaiter));
  const uint64_t task_waiters_at = layout.add<TaskWaiter>(space.capacity * sizeof(TaskWaiter));
  const uint64_t sleepers_at = layout.add<Sleepers>(space.capacity * sizeof(Sleepers));
  const uint64_t regions_at = layout.add<RegionTable>(sizeof(RegionTable));
  const uint64_t copies_at = layout.add<CopyOffers>(sizeof(CopyOffers));
  const uint64_t backlogs_at = layout.add<Backlogs>(sizeof(Backlogs));
  const uint64_t groups_at = layout.add<Groups>(sizeof(Groups));
  const uint64_t stripes_at = layout.add<Stripes>(sizeof(Stripes));
  constexpr uint32_t kTableSlots = processes::TableIndex::kUsualSlots;
  const uint64_t tables_at =
      layout.add<processes::TableIndex>(processes::TableIndex::bytes_for(kTableSlots));
  base::Mapping memory = base::reserve_undumped_memory(layout.bytes(), "cannot reserve the board");
  std::byte* const base = memory.data();

  // The mapping is pages of zeros, which are the empty state of every part.
  auto* const board = new (base + board_at) Board{};
  board->stamp = {task::kMagic, task::kAbiMajor, task::kAbiMinor, sizeof(Board), 0};
  board->capacity = space.capacity;
  board->nodes.store(1, std::memory_order_relaxed);
  board->delegatees.store(1, std::memory_order_relaxed);
  board->attached = reinterpret_cast<std::atomic<uint32_t>*>(base + attached_at);
  board->mailboxes = reinterpret_cast<mailbox::Mailbox*>(base + mailboxes_at);
  board->ports = reinterpret_cast<mailbox::Mailbox*>(base + ports_at);
  board->lanes = reinterpret_cast<Lanes*>(base + lanes_at);
  board->lanes->init(lanes);
  board->lane_waiters = reinterpret_cast<LaneWaiter*>(base + lane_waiters_at);
  board->task_waiters = reinterpret_cast<TaskWaiter*>(base + task_waiters_at);
  board->sleepers = reinterpret_cast<Sleepers*>(base + sleepers_at);
  board->regions = reinterpret_cast<RegionTable*>(base + regions_at);
  board->copies = reinterpret_cast<CopyOffers*>(base + copies_at);
  board->backlogs = reinterpret_cast<Backlogs*>(base + backlogs_at);
  board->groups = reinterpret_cast<Groups*>(base + groups_at);
  board->stripes = reinterpret_cast<Stripes*>(base + stripes_at);
  board->tables = processes::TableIndex::create(base + tables_at, kTableSlots);
  board->has_heavy_fence = mailbox::Machine::has_heavy_fence();
  board->load.processors = own_processors();
  space.upper_floors = board;
  return memory;
}

mailbox::Owner reclaim(Board& board, uint32_t number) {
  // Acquire: pairs with the store in Endpoint's constructor. Release: with BoardTasks::is_alive.
  const mailbox::Owner dead{board.attached[number].exchange(0, std::memory_order_acq_rel)};
  if (dead == mailbox::Owner{}) return dead;
  board.copies->close(dead);
  release_copies(board, dead);  // frees finished offers; the host calls again until all are
  board.regions->remove_all(dead);
  board.stripes->free_all_of(dead);
  board.asleep.fetch_sub(board.sleepers[number].count.exchange(0, std::memory_order_relaxed),
                         std::memory_order_relaxed);
  board.task_waiters[number].is_idle.store(1, std::memory_order_relaxed);
  board.task_waiters[number].handler_state.store(0, std::memory_order_relaxed);
  for (uint32_t lane = 0; lane < board.lanes->capacity(); ++lane) {
    if (board.lanes->owner(lane) != dead) continue;
    // The lane has no next owner yet: its consumer gives the lane back after this.
    LaneWaiter& waiter = board.lane_waiters[lane];
    const bool is_no_threads =
        waiter.lane_use.exchange(LaneWaiter::kOneThread, std::memory_order_relaxed) !=
        LaneWaiter::kOneThread;
    const uint32_t waited = waiter.waits.exchange(LaneWaiter::kNo, std::memory_order_relaxed);
    tell(board.load, waited, LaneWaiter::kNo);
    if (!is_no_threads) board.load.runnable.fetch_sub(1, std::memory_order_relaxed);
  }
  for (uint32_t task = 0; task < board.capacity; ++task) {
    board.mailboxes[task].cancel_posts_of(dead);
    board.ports[task].cancel_posts_of(dead);
  }
  return dead;
}

void empty_mailboxes(Board& board, task::TaskRecord& next) {
  board.mailboxes[next.number].clear([&](const mailbox::Message& message) {
    if (static_cast<MessageKind>(message.kind) == MessageKind::kActive)
      give_back_body(message, next);
  });
  // A block that a task of this node has lent is not given back: the task's memory may be unmapped,
  // and a store into it would end the host.
  board.ports[next.number].clear([&](const mailbox::Message& message) {
    Incoming incoming;
    incoming.copy_from(message);
    if (incoming.has_source() &&
        incoming.source().node != board.node.load(std::memory_order_relaxed))
      incoming.give_back();
  });
}

bool release_copies(Board& board, mailbox::Owner dead) {
  return board.copies->release(dead, BoardTasks{board});
}

void wake_task(Board& board, uint32_t number) {
  if (number >= board.capacity) return wake_tasks(board);
  mailbox::Machine::fence();  // the caller's stores before load of `count`; see Wait::arm
  if (board.sleepers[number].count.load(std::memory_order_relaxed) == 0) return;
  board.ports[number].bell().ring_after_fence();
}

void wake_tasks(Board& board) {
  for (uint32_t number = 0; number < board.capacity; ++number)
    if (board.attached[number].load(std::memory_order_relaxed) != 0) wake_task(board, number);
}

}  // namespace nagaya::llcl
