// SPDX-License-Identifier: BSD-3-Clause
// window.h - one member's handle of a window: how it is opened and closed, its synchronisation with
// the members of its node (remote_members.h: with others). It never waits: a step that has to wait
// is a function that the caller polls until it returns true.
//
// Opening, at each member, among those of its node:
//
//   announce()   makes the own memory, shows where it lies, or the member's error, and arrives
//   is_opened()  until all members have arrived; of a contiguous window, rank 0 then makes the
//                memory of all, and the others wait for it
//
// So all members know all errors before anyone goes on.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "array/block_memory.h"
#include "llcl/board/group.h"
#include "nagaya/window.h"
#include "processes/process_set.h"
#include "window/epochs.h"
#include "window/part.h"

namespace nagaya::window {

inline llcl::GroupName group_name_of(uint64_t context) {
  return {llcl::GroupUser::kWindow, 0, context};
}

class Window {
 public:
  // `set`: of members on several nodes; nullptr: all are on this one. May throw std::bad_alloc.
  Window(llcl::Board& board, task::TaskRecord& self, uint32_t rank, uint32_t members,
         bool has_threads, std::shared_ptr<const processes::ProcessSet> set = nullptr);
  ~Window();

  // ---- opening and closing

  // Opens the memory that the node's members share. Arguments and results as llcl::Group::open().
  int join(uint64_t context, std::span<const uint32_t> members);
  void announce(const nagaya_window_memory& own);
  bool is_opened();
  // Valid once is_opened() has returned true.
  int opening_error() const { return opening_error_; }
  // Called by a member that lacks the memory for a Window: announces its error in the opened
  // `group`.
  static void announce_error(const llcl::Group& group, uint32_t rank, int error);

  uint32_t rank() const { return rank_; }
  uint32_t size() const { return size_; }
  bool is_dynamic() const { return is_dynamic_; }
  bool is_remote(uint32_t rank) const { return set_ != nullptr && !set_->is_here(rank); }
  const llcl::Group& group() const { return group_; }
  // The Part of a member of this node.
  Part& part(uint32_t rank) const { return part_at(index_of(rank)); }
  nagaya_process process_of(uint32_t rank) const;
  uint32_t index_of(uint32_t rank) const { return set_ == nullptr ? rank : set_->index_of(rank); }
  // The Part of the node's member with this index. That of index 0 has the words by which all of
  // the node's members synchronise.
  Part& part_at(uint32_t index) const { return *reinterpret_cast<Part*>(group_.part(index)); }
  Part& first_part() const { return part_at(0); }
  uint32_t members_here() const { return static_cast<uint32_t>(group_.members().size()); }
  Epochs& epochs() { return epochs_; }
  // Whether an epoch or an exposure is open that only a call of its own ends.
  bool has_epoch() const { return !epochs_.has_no_open_epoch() || is_posted(); }
  llcl::Board& board() const { return board_; }
  mailbox::Owner owner() const { return owner_; }

  int attach(void* base, size_t bytes);
  int detach(const void* base);

  // ---- fences

  // The caller has arrived at a fence. Returns how many arrivals the fence is complete with. The
  // last member that arrives wakes the others.
  uint64_t arrive();
  bool have_arrived(uint64_t arrivals) const {
    return first_part().arrived.load(std::memory_order_acquire) >= arrivals;  // pairs with arrive()
  }

  // ---- post, start, complete, wait

  // Shows the exposure to the members of this node in the list.
  int post(std::span<const uint32_t> ranks, bool is_unchecked);
  bool is_posted() const { return is_posted_.load(std::memory_order_relaxed); }
  // Ends the exposure if all accesses to the caller's memory are complete.
  bool end_exposure();
  // Begins the epoch for a target that has posted.
  bool start(uint32_t target, bool is_unchecked);
  // Ends the epoch for the targets of this node.
  void complete();
  bool has_all(std::span<const uint32_t> ranks) const;

  // ---- locks (locks.h takes them)

  void unlock(uint32_t target, Access access);
  void unlock_all();
  // Whether members that wait for a lock can be too many for the processors.
  bool is_crowded() const { return set_ == nullptr && members_here() > group_.processors(); }
  // How many tickets, from TargetLock::place_to_go_on(), have members that stay awake in a crowd.
  // The first one is that of an exclusive holder, until it unlocks: so the next member is awake
  // before its turn, and the hand-over waits for no wake-up.
  static constexpr uint32_t kAwakeInLine = 2;
  // Wakes those members, after a change of the target's lock.
  void wake_line(uint32_t target) const;

 private:
  int place_contiguous();

  llcl::Board& board_;
  task::TaskRecord& self_;
  const std::shared_ptr<const processes::ProcessSet> set_;
  const mailbox::Owner owner_;
  const uint32_t rank_, size_;
  bool is_dynamic_ = false;
  std::atomic<bool> is_posted_ = false;  // relaxed: of one process
  Epochs epochs_;
  llcl::Group group_;
  uint64_t fences_ = 0;       // so far, with the opening
  uint64_t completions_ = 0;  // with which the caller's exposures so far end
  std::optional<array::BlockMemory> memory_;
  uint64_t context_ = 0;
  size_t alignment_ = 0;
  uint64_t announcements_ = 0;  // arrivals with which all members have announced
  int opening_error_ = 0;
  task::SpinLock attachments_lock_;
  std::vector<const void*> empty_attachments_;
};

}  // namespace nagaya::window
