// SPDX-License-Identifier: BSD-3-Clause
// requester.h - the half of a delegatee that carries out its own tasks' commands: executor (from
// lanes to batches and transfers) and completer (from answers and events to flags, counters,
// callbacks).
//
//   lane ──accept──► slot ──► pending ──credit, room──► sent ──answer──► complete
//          │                     ▲                        │
//          │ large ──► ready ◄───┼── the answer names ────┘
//          │            │        └── asks for the region
//          │            └──► transferring ──event──► complete, ready again for the next portion,
//          │                                          or pending again: to notify
//          └─ the node has too many, or no slot is free: the rest that was drained of this lane is
//             held, and the lane left alone until that command can be accepted
//
// A command's pieces are sent portion by portion; after each portion the command goes behind the
// other pending ones. So are an accumulate's elements, but only while no other accumulate or
// compare-and-swap is pending for the node: these leave in the order in which they were accepted.
// A large accumulate lends its operands: its portions say where they are, and the target reads
// them. While a kAtomicBehind is pending, no command leaves its place. A slow node blocks only
// lanes whose next command targets it, and only after pending_max commands; a task that does not
// take its callbacks blocks only its own lanes.
#pragma once

#include <array>
#include <atomic>
#include <span>
#include <vector>

#include "delegatee/batch.h"
#include "delegatee/fifo.h"
#include "delegatee/node.h"
#include "delegatee/outbox.h"
#include "delegatee/remote_region_cache.h"
#include "delegatee/slots.h"

namespace nagaya::delegatee {

class Requester : private Lanes::Visitor {
 public:
  Requester(fabric::Fabric& fabric, Outbox& outbox, Lanes& lanes, Delivery& delivery, size_t nodes,
            const Options& options);

  // Makes one round over the lanes. Returns the number of commands taken out of them.
  size_t drain();
  // Sends records and starts transfers as far as credit and room allow, and posts completions.
  // Returns true if anything moved.
  bool advance();
  // Handles an answer. False: it answers no request that was sent to the node.
  bool answered(Node node, const Header& header, std::span<const std::byte> payload);
  void transferred(const fabric::Event& event);
  // Forgets the fabric's name of the node's region, which has ended.
  void forget_region(Node node, const Header& header) {
    regions_.forget({node, header.task, header.region});
  }
  // Tells other nodes which of their regions were not used since the last call.
  void evict_unused_regions();
  bool knows_regions() const { return !regions_.empty(); }

  // Stores the completions that were collected for counters since the last call. Callers from
  // outside need not call it: advance() does.
  void flush_counter();

  // Ends all commands for the node, now and later, with the error. The fabric may use the memory of
  // pending transfers until their events: the caller has given the node up in the fabric.
  void fail(Node node, int error);
  int failed(Node node) const { return targets_[node].failed; }
  // Discards the commands of an ended task, in whatever lane, without completions.
  void abandon(uint32_t task);
  bool holds_memory_of(uint32_t task);

  // Number of commands of that kind that were accepted. Any thread.
  uint64_t accepted(llcl::Op op) const {
    return accepted_[size_t(op)].load(std::memory_order_relaxed);
  }

  // True if a command waits for an answer of the node. A failed node gives none; the delegatee's
  // own node counts as failed.
  bool awaits(Node node) const {
    const TargetNode& target = targets_[node];
    return target.count != target.unposted && target.failed == 0;
  }
  bool has_accepted() const { return slots_.in_use() != 0; }
  // All nodes that are awaited, and some that were.
  const std::vector<Node>& awaited() const { return awaited_; }
  bool has_unposted() const { return !unposted_.empty(); }
  // Whether the fabric has refused a transfer since the last advance.
  bool was_refused() const { return was_refused_; }
  // The bytes of all transfers that the fabric moves straight between tasks' buffers just now.
  uint64_t transferring_bytes() const { return transferring_bytes_; }

 private:
  static constexpr size_t kDrainMax = 32;
  static constexpr int kSendsMax = 1024;  // for one node, before others have their turn
  // Largest read or write given to the fabric: a node's answer to a probe comes behind it on the
  // same link. [bytes]
  static constexpr uint64_t kTransferMaxBytes = uint64_t{32} << 20;
  // Limits of the transfers of one node, so that others have room, too.
  static constexpr uint32_t kTransfersMax = 64;
  static constexpr uint64_t kTransferringMaxBytes = 4 * kTransferMaxBytes;
  struct SentPortion {  // a portion that was sent and not answered
    uint32_t index;
    uint32_t bytes;  // of the blocks
    size_t record_bytes;
    Cursor at;
  };
  struct TargetNode {
    uint32_t first = kNone, last = kNone;  // all its slots, in the order of acceptance
    uint32_t count = 0;                    // of the slots in this list
    uint32_t fences = 0;                   // among these slots: that may wait for others
    SlotQueue pending, ready;
    uint32_t ordered = 0;  // of the pending commands, those that keep their order
    uint32_t behind = 0;   // of the pending commands: kAtomicBehind
    uint32_t lending = 0;  // commands that lend operands to the node
    // Answered in order: those of pieces, and those of accumulates that lend nothing.
    Fifo<SentPortion> piece_portions, element_portions;
    uint32_t sent = 0;
    size_t sent_bytes = 0;
    uint32_t transferring = 0;  // in the fabric
    uint64_t transferring_bytes = 0;
    uint32_t unposted = 0;  // of `count`: complete, but their tasks' mailboxes are full
    int failed = 0;
    bool is_awaited = false;  // in awaited_
  };

  // Consecutive completions of one counter, which are added at once: each store to a cache line
  // that somebody polls costs 100 ns.
  struct Completed {
    uint64_t counter = 0;  // its address; 0: none
    uint64_t count = 0;    // to be added
    bool has_failed = false;
    uint32_t task = 0;
  };

  size_t wanted(uint32_t lane) override;
  void visit(uint32_t lane, const llcl::Command* commands, size_t count) override;
  bool resume(uint32_t lane);

  bool accept(uint32_t lane, const llcl::Command& command);
  int misuse_of(const llcl::Command& command) const;
  void start(uint32_t index);
  void start_fence(uint32_t index, int error);
  void lend_operands(Slot& slot);
  void start_behind(uint32_t index);
  void queue(uint32_t index, State state);
  void enlist(uint32_t index);
  void unlist(uint32_t index);
  void settle_fences(const Slot& settled);
  void end_wait(uint32_t index);

  bool advance(Node node);
  std::byte* append(TargetNode& target, Node node, const Header& header, size_t answer_bytes = 0);
  uint32_t pop_pending(TargetNode& target);
  bool send_first(TargetNode& target);
  bool send_next_portion(TargetNode& target);
  bool send_cut_portion(TargetNode& target, uint32_t index);
  bool send_lent_portion(TargetNode& target, uint32_t index);
  int cut_portion(const Slot& slot, Cursor& at);
  bool send_portion(TargetNode& target, uint32_t index);
  void fill_blocks(const Slot& slot, std::byte* blocks);
  bool drop_first(TargetNode& target);
  bool transfer_first(TargetNode& target);
  bool transfer(uint32_t index);
  Header next_record(uint32_t index) const;
  bool was_last_answer(Slot& slot);
  static bool store_answer(Slot& slot, int status, std::span<const std::byte> payload);
  bool answered_portion(uint32_t index, int status, std::span<const std::byte> payload);
  static Fifo<SentPortion>& portions_of(TargetNode& target, const llcl::Command& command) {
    return command.has_pieces() ? target.piece_portions : target.element_portions;
  }
  bool answered_lent_portion(uint32_t index, int status, std::span<const std::byte> payload);
  int store_blocks(const Slot& slot, Cursor at, std::span<const std::byte> blocks);
  void finish(uint32_t index, int status);
  bool post(const Slot& slot, int status);
  bool post_unposted();
  void count_unposted(const Slot& slot, int change);
  void release_slot(uint32_t index);

  fabric::Fabric& fabric_;
  Outbox& outbox_;
  Lanes& lanes_;
  Delivery& delivery_;
  const Options options_;
  const size_t small_max_bytes_;
  const size_t part_max_bytes_;  // of a message
  Slots slots_;
  Completed completed_;
  RemoteRegionCache regions_;
  std::vector<TargetNode> targets_;
  std::vector<Node> awaited_;
  Portion portion_;                        // the latest; a member so that its memory is reused
  std::vector<Fifo<llcl::Command>> held_;  // by lane: drained, and not accepted
  std::vector<uint32_t> lanes_with_held_;  // lanes with commands in held_
  SlotQueue unposted_;
  std::vector<uint32_t> unposted_of_lane_;
  uint32_t unposted_count_ = 0;
  std::vector<uint32_t> full_;  // tasks with full mailboxes; a member so that its memory is reused
  bool was_refused_ = false;
  uint64_t transferring_bytes_ = 0;
  std::array<std::atomic<uint64_t>, llcl::kOps> accepted_{};  // relaxed: orders no data
};

}  // namespace nagaya::delegatee
