// SPDX-License-Identifier: BSD-3-Clause
// team.h - a member's part in a team: which collectives it has begun and left, and how it reaches
// what the others have posted.
//
// Threads: the member's collectives begin, move and end under `lock`, if there are threads.
#pragma once

#include <array>

#include "coll/line.h"
#include "llcl/group.h"
#include "task/spin_lock.h"

namespace nagaya::coll {

class Team {
 public:
  static constexpr uint64_t kAhead = NAGAYA_COLL_AHEAD;

  Team(uint32_t rank, bool has_threads) : rank_(rank), has_threads_(has_threads) {}
  ~Team() { group_.close(free_buffers); }

  llcl::Group& group() { return group_; }
  uint32_t rank() const { return rank_; }
  uint32_t size() const { return static_cast<uint32_t>(group_.members().size()); }

  // The next collective's number, from 0.
  uint64_t new_number() { return numbers_++; }
  // Whether it is that collective's turn, and its line is free.
  bool may_begin(uint64_t number) {
    return number == begun_ && (has_left(slowest_, number) || has_left(find_slowest(), number));
  }
  // `has_posted`: its line is written, all members may look.
  void begin(uint64_t number, bool has_posted) {
    begun_ = number + 1;
    if (!has_posted) return;
    // Release: pairs with has_posted() of the others.
    own_line(number).number.store(number + 1, std::memory_order_release);
    mailbox::Machine::step(mailbox::StopPoint::kLinePosted);
    group_.wake();
  }
  // The member touches no memory of others for it any more. `is_awaited`: somebody waits for that,
  // and not only for a free line.
  void leave(uint64_t number, bool is_awaited);
  // All that the member has started it has left.
  bool is_idle() const { return numbers_ == left_; }

  Line& own_line(uint64_t number) { return part(rank_).lines[number % kAhead]; }
  const Line& line(uint32_t rank, uint64_t number) const {
    return part(rank).lines[number % kAhead];
  }
  bool has_posted(uint32_t rank, uint64_t number) const {  // acquire: pairs with begin()
    return line(rank, number).number.load(std::memory_order_acquire) == number + 1;
  }
  bool has_left(uint32_t rank, uint64_t number) const {  // acquire: pairs with leave()
    return part(rank).done.load(std::memory_order_acquire) > number;
  }
  // Memory that goes with the collective's line; nullptr: there is none.
  std::byte* buffer(uint64_t number, size_t bytes);

  // Holds the lock while it lives, if there are threads.
  class Turn {
   public:
    explicit Turn(Team& team) : team_(team) {
      if (team_.has_threads_) team_.lock_.lock();
    }
    ~Turn() {
      if (team_.has_threads_) team_.lock_.unlock();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Team& team_;
  };

 private:
  Part& part(uint32_t rank) const { return *reinterpret_cast<Part*>(group_.part(rank)); }
  // Whether a member that has left all collectives below `done` has left the one that had the line
  // before.
  static bool has_left(uint64_t done, uint64_t number) { return done + kAhead > number; }
  uint64_t find_slowest();
  static void free_buffers(llcl::Group& group);

  llcl::Group group_;
  const uint32_t rank_;
  const bool has_threads_;
  task::SpinLock lock_;
  uint64_t numbers_ = 0;           // given
  uint64_t begun_ = 0, left_ = 0;  // all below
  uint64_t left_early_ = 0;        // bit n: collective left_ + n
  uint64_t slowest_ = 0;           // of all members' `done`, as last seen
  std::array<size_t, kAhead> buffer_bytes_{};
};

}  // namespace nagaya::coll
