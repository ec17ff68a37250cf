// SPDX-License-Identifier: BSD-3-Clause
// slots.h - the commands that a delegatee has accepted and that are not complete. Answers and
// fabric events name a slot by its tag; the slot's count of uses is in the tag, so that a late or
// forged answer finds no slot.
#pragma once

#include <cstdint>
#include <vector>

#include "delegatee/requester_pieces.h"
#include "fabric/fabric.h"
#include "llcl/board/command.h"

namespace nagaya::delegatee {

inline constexpr uint32_t kNone = UINT32_MAX;

// The states of a slot. Their transitions, and the actor of each: docs/delegatee.md.
enum class State : uint8_t {
  kFree,
  kPending,       // waits for credit or room in the outbox
  kSent,          // waits for the answer
  kReady,         // a large transfer that waits for room in the fabric
  kTransferring,  // the fabric reads or writes the task's memory
  kFence,         // waits for earlier commands of its lane
  kUnposted,      // complete, but the requester's mailbox was full
  kLost,          // complete with an error, but the fabric still holds the task's memory
};

struct Slot {
  llcl::Command command;
  fabric::Region remote;  // of a large transfer; lends: the operands, registered until the end
  uint32_t lane;
  uint32_t task;           // the requester
  uint32_t next;           // in a SlotQueue
  uint32_t before, after;  // in its node's list, in the order of acceptance
  uint32_t fence_waits;    // kFence: number of commands that it waits for
  uint64_t sent_bytes;     // kActiveMessage, in portions: of the data, in records, or lent by them;
                           // is_large: by the fabric
  uint64_t answered_bytes;
  Cursor at;       // in portions: where the next one begins
  int32_t status;  // the first error of its records; kFence: its node's; kUnposted: to be posted
  uint16_t uses;
  State state;
  bool is_listed;      // in its node's list
  bool is_large;       // is to go by the fabric's reads and writes
  bool uses_region;    // counts as a user in RemoteRegionCache
  bool lends;          // an accumulate whose operands the target reads
  bool may_come_late;  // lends, or keeps its order behind such a command: the target may carry out
                       // later records first
  bool in_fabric;      // between a try_ call and its event
  bool has_retried;    // a large transfer: it has asked for the region a second time
  bool is_orphan;      // the requester has ended: its memory must not be used

  // Whether the fabric, here or at the target, may read or write the task's memory.
  bool holds_memory() const { return in_fabric || lends; }
};

class Slots {
 public:
  static constexpr uint32_t kMax = 1 << 16;

  explicit Slots(uint32_t count) : slots_(count < kMax ? count : kMax) {
    free_.reserve(slots_.size());
    for (size_t n = slots_.size(); n-- > 0;) free_.push_back(static_cast<uint32_t>(n));
  }

  bool empty() const { return free_.empty(); }
  uint32_t count() const { return static_cast<uint32_t>(slots_.size()); }
  uint32_t in_use() const { return count() - static_cast<uint32_t>(free_.size()); }
  Slot& operator[](uint32_t index) { return slots_[index]; }
  const Slot& operator[](uint32_t index) const { return slots_[index]; }

  uint32_t acquire() {
    const uint32_t index = free_.back();
    free_.pop_back();
    const uint16_t uses = slots_[index].uses;
    slots_[index] = Slot{};
    slots_[index].uses = static_cast<uint16_t>(uses + 1);
    return index;
  }
  void release(uint32_t index) {
    slots_[index].state = State::kFree;
    free_.push_back(index);
  }

  uint32_t tag(uint32_t index) const { return uint32_t{slots_[index].uses} << 16 | index; }
  // Returns the slot in use that has this tag; kNone if there is none.
  uint32_t find(uint64_t tag) const {
    const uint32_t index = static_cast<uint32_t>(tag) % kMax;
    if (tag > UINT32_MAX || index >= slots_.size()) return kNone;
    const bool is_it = slots_[index].state != State::kFree && this->tag(index) == tag;
    return is_it ? index : kNone;
  }

 private:
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;  // the latest first: it is in the cache
};

// First-in, first-out queue of slots; a slot is in one SlotQueue at a time.
class SlotQueue {
 public:
  bool empty() const { return first_ == kNone; }
  uint32_t front() const { return first_; }

  void push(Slots& slots, uint32_t index) {
    slots[index].next = kNone;
    if (empty())
      first_ = index;
    else
      slots[last_].next = index;
    last_ = index;
  }
  void pop(Slots& slots) { first_ = slots[first_].next; }
  void clear() { first_ = kNone; }

 private:
  uint32_t first_ = kNone;
  uint32_t last_ = kNone;
};

}  // namespace nagaya::delegatee
