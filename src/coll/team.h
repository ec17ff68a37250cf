// SPDX-License-Identifier: BSD-3-Clause
// team.h - one member's state in a team: the collectives that it has begun and left, and access to
// the lines that the others have posted.
//
// Threads: the member's collectives begin, advance and end under `lock_` if several threads may
// call.
#pragma once

#include <array>
#include <mutex>
#include <span>

#include "coll/line.h"
#include "llcl/board/group.h"
#include "llcl/requests/wait.h"
#include "task/space/spin_lock.h"

namespace nagaya::coll {

class Team {
 public:
  Team(uint32_t rank, bool has_threads) : rank_(rank), has_threads_(has_threads) {}
  ~Team();

  // Called before anything else; arguments and results as llcl::Group::open(). Opens the memory
  // that the members share. `number`: tells apart the teams of one context.
  int open(llcl::Board& board, task::TaskRecord& self, uint64_t context, uint32_t number,
           std::span<const uint32_t> members);

  // Undoes open(), as Group::undo_open() does: the member has used nothing, and may open again.
  void undo_open() { group_.undo_open(); }

  const llcl::Group& group() const { return group_; }
  uint32_t rank() const { return rank_; }
  uint32_t size() const { return static_cast<uint32_t>(group_.members().size()); }
  nagaya_process process_of(uint32_t rank) const {
    return {board_->node.load(std::memory_order_relaxed), group_.members()[rank]};
  }
  // Whether the team has so many members that one does not poll all the others, and the node has a
  // processor for each of them (which other tasks may use, too). Equal at all members.
  bool is_large() const { return is_large_; }
  bool is_crowded() const { return is_crowded_; }  // its members share processors

  // Returns the next collective's number, from 0.
  uint64_t new_number() { return next_number_++; }
  // Whether all collectives before `number` have begun, and its line is free.
  bool may_begin(uint64_t number) {
    if (number != begun_ || (number == DeepMemberArea::kFirstCollective && !open_deep_areas()))
      return false;
    const uint64_t depth =
        number < DeepMemberArea::kFirstCollective ? MemberArea::kDepth : DeepMemberArea::kDepth;
    return slowest_ + depth > number || find_slowest() + depth > number;
  }
  void begin(uint64_t number) { begun_ = number + 1; }
  // Returns the task for which the member's next wait is: in a team of two the other member; else
  // kNobody.
  uint32_t partner() const {
    return size() == 2 ? group_.members()[1 - rank_] : llcl::Wait::kNobody;
  }
  // Publishes this member's line, which is written, and wakes the members that wait.
  void post(uint64_t number) {
    // Release: pairs with has_posted() of the others.
    line(rank_, number).number.store(number + 1, std::memory_order_release);
    mailbox::Machine::step(mailbox::StopPoint::kLinePosted);
    group_.wake();
  }
  // Publishes data that were added to the posted line.
  void post_level(uint64_t number, uint32_t level) {
    // Release: pairs with has_posted() of the others.
    line(rank_, number).level.store(level, std::memory_order_release);
    mailbox::Machine::step(mailbox::StopPoint::kLinePosted);
    group_.wake();
  }
  // The member touches no memory of others for collective `number` any more.
  void leave(uint64_t number);
  // One collective of the member has ended: it touches nothing of the team any more, and nobody
  // touches the member's memory for it.
  void end_collective() { ++ended_; }
  // Whether all collectives that the member has started have ended.
  bool is_idle() const { return next_number_ == ended_; }

  Line& line(uint32_t rank, uint64_t number) const {
    return number < DeepMemberArea::kFirstCollective
               ? area(rank).ring.lines[number % MemberArea::kDepth]
               : deep_area(rank).ring.lines[number % DeepMemberArea::kDepth];
  }
  bool has_posted(uint32_t rank, uint64_t number) const {  // acquire: pairs with post()
    return line(rank, number).number.load(std::memory_order_acquire) == number + 1;
  }
  bool has_posted(uint32_t rank, uint64_t number, uint32_t level) const {
    // Acquire: pairs with post_level().
    return has_posted(rank, number) &&
           line(rank, number).level.load(std::memory_order_acquire) >= level;
  }
  bool has_left(uint32_t rank, uint64_t number) const {  // acquire: pairs with leave()
    return area(rank).done.load(std::memory_order_acquire) > number;
  }
  // Returns at least `bytes` bytes of the buffer of the collective's line; nullptr: no memory.
  std::byte* buffer(uint64_t number, size_t bytes);

  // Takes the lock where several threads may call; else holds none.
  std::unique_lock<task::SpinLock> locked() {
    return has_threads_ ? std::unique_lock(lock_) : std::unique_lock<task::SpinLock>();
  }

 private:
  MemberArea& area(uint32_t rank) const {
    return *reinterpret_cast<MemberArea*>(group_.part(rank));
  }
  DeepMemberArea& deep_area(uint32_t rank) const {
    return *reinterpret_cast<DeepMemberArea*>(deep_group_.part(rank));
  }
  bool open_deep_areas();
  std::byte* grow_buffer(std::byte*& buffer, size_t& capacity, size_t bytes);
  uint64_t find_slowest();

  llcl::Group group_, deep_group_;
  llcl::Board* board_ = nullptr;
  task::TaskRecord* self_ = nullptr;
  llcl::GroupName name_{};
  const uint32_t rank_;
  const bool has_threads_;
  bool is_large_ = false, is_crowded_ = false;
  task::SpinLock lock_;
  uint64_t next_number_ = 0;       // the next number to hand out
  uint64_t begun_ = 0, left_ = 0;  // all collectives below have begun, or were left
  uint64_t ended_ = 0;             // how many collectives have ended
  uint64_t left_early_ = 0;        // bit n: collective left_ + n was left
  uint64_t slowest_ = 0;           // the smallest `done` of all members, as last loaded
  std::array<size_t, MemberArea::kDepth> buffer_bytes_{};
  std::array<size_t, DeepMemberArea::kDepth> deep_buffer_bytes_{};
};

}  // namespace nagaya::coll
