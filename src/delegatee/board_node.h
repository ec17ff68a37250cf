// SPDX-License-Identifier: BSD-3-Clause
// board_node.h - a delegatee's own node (node.h) over the board that the node's tasks share.
#pragma once

#include <atomic>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "delegatee/node.h"
#include "llcl/board/board.h"
#include "llcl/board/message.h"
#include "llcl/board/port_cell.h"

namespace nagaya::delegatee {

// Memory that the node holds for a task that does not read its messages: bodies, notes, and the
// overhead of keeping them. [bytes]
struct BacklogBudget {
  // Above this the node tells the task's senders, which then keep message bodies in their own
  // memory.
  uint64_t warn_bytes = 4 << 20;
  // Hard limit: at it further messages wait, and hold the credit of the node that sent them. By the
  // time senders are told, each has handed over 2 MiB and the content of its lanes; a sender that
  // ignores the backlog goes on sending.
  uint64_t max_bytes = 256 << 20;
};

class BoardNode final : public Lanes, public Regions, public Delivery {
 public:
  explicit BoardNode(llcl::Board& board, const BacklogBudget& budget = {})
      : board_(board), budget_(budget), dead_(board.capacity), holds_(board.capacity) {}

  // Size of the task's backlog, as its budget counts it. For tests; the delegatee's thread. [bytes]
  uint64_t backlog_bytes(uint32_t task) const {
    const auto known = backlogs_.find(task);
    return known == backlogs_.end() ? 0 : known->second.bytes;
  }

  // Size of the bodies that ended tasks have left. For tests; the delegatee's thread.       [bytes]
  uint64_t left_bytes() const {
    uint64_t sum = 0;
    for (const auto& [task, backlog] : left_)
      for (const Body& body : backlog.bodies) sum += Body::cost_of(body.size);
    return sum;
  }

  // Makes drain() take commands from these lanes only, or from the ring instead of the lanes.
  // Called before the delegatee's thread starts.
  void use(mailbox::LaneShare share) { share_ = share; }
  void use(llcl::Ring& ring) { ring_ = &ring; }

  // The host calls it before Delegatee::abandon; `owner` is the ended task as owner of its lanes.
  void note_dead(uint32_t task, mailbox::Owner owner) {
    dead_[task] = owner;
    holds_[task].store(true, std::memory_order_relaxed);
  }
  // True from note_dead() until released(). The host calls it. Acquire: pairs with the release in
  // released().
  bool holds(uint32_t task) const { return holds_[task].load(std::memory_order_acquire); }

  uint32_t capacity() const override { return board_.lanes->capacity(); }
  size_t drain(Visitor& visitor) override;
  void before_sleep() override { board_.lanes->before_sleep(share_); }
  void reclaim(uint32_t task) override;

  Memory find(uint32_t task, uint32_t region) override;
  uint64_t endings() const override { return board_.regions->endings(); }
  int accumulate(const nagaya_llcl_accumulation& what) override {
    return llcl::accumulate(board_, mailbox::Owner::host(), what);
  }
  int compare_swap(const llcl::CompareSwap& what) override {
    return llcl::compare_swap(board_, mailbox::Owner::host(), what);
  }

  Delivered deliver(const MessagePart& message) override;
  bool post_late() override;
  void note_backlog(uint32_t node, uint32_t task, bool has_one) override {
    board_.backlogs->note(node, task, has_one);
  }
  void abandon(uint32_t source_node) override;
  bool post_completion(uint32_t task, uint64_t request, int status) override;
  void wake(uint32_t task) override { llcl::wake_task(board_, task); }
  void released(uint32_t task) override {
    holds_[task].store(false, std::memory_order_release);  // pairs with holds
  }
  void lost(uint32_t node, int error) override;

 private:
  // Overhead that the budget counts: a cell in a deque; what list and allocator add to a body.
  // [bytes]
  static constexpr uint64_t kNoteCost = sizeof(llcl::Incoming) + 8, kBesideBytes = 48;

  // A message too long for a mailbox: assembled part by part, kept until its handler has
  // returned.
  struct Body {
    explicit Body(size_t bytes)
        : size(bytes), data(std::make_unique_for_overwrite<std::byte[]>(bytes)) {}

    // Cost of a body of that size in the budget, its cell included. [bytes]
    static uint64_t cost_of(uint64_t bytes) {
      return bytes + sizeof(Body) + kBesideBytes + kNoteCost;
    }

    std::atomic<uint32_t> done{0};
    const size_t size;  // [bytes]
    const std::unique_ptr<std::byte[]> data;
  };

  // Messages that the node holds for a task: bodies until they are read, and messages that found
  // its port full. The program itself reads its port, and may compute for long: the traffic of
  // other tasks does not wait for it.
  struct Backlog {
    uint64_t bytes = 0;  // of all messages, as the budget counts them
    std::list<Body> bodies;
    std::deque<llcl::Incoming> late;
  };
  // A message of which parts are still missing: its receiver, and the body that takes its parts.
  struct Unfinished {
    uint32_t task;
    std::list<Body>::iterator body;
  };

  bool is_attached(uint32_t task) const;
  Delivered deliver_whole(const MessagePart& message, const std::byte* whole, Body* body);
  bool post(uint32_t task, const llcl::Incoming& message);
  Delivered post_or_keep(uint32_t task, const llcl::Incoming& message);
  static uint64_t cost_of(const llcl::Incoming& message);
  bool has_room(uint32_t task, uint64_t bytes);
  Delivered accepted(uint32_t task);
  void drop_backlog(uint32_t task);
  Body* body_of(const MessagePart& message);
  static void free_bodies(Backlog& backlog);

  llcl::Board& board_;
  const BacklogBudget budget_;
  mailbox::LaneShare share_;
  llcl::Ring* ring_ = nullptr;
  std::vector<mailbox::Owner> dead_;      // by task number; Delegatee::abandon's lock orders it
  std::vector<std::atomic<bool>> holds_;  // by task number
  std::map<uint32_t, Backlog> backlogs_;  // by task
  std::map<uint32_t, Unfinished> unfinished_;  // by source node
  std::set<uint32_t> late_;                    // tasks that have late messages
  std::map<uint32_t, Backlog> left_;           // by ended task: bodies that it has not given back
};

}  // namespace nagaya::delegatee
