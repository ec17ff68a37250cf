// SPDX-License-Identifier: BSD-3-Clause
// members.h - the processes that share an array. Processes of one node synchronise by words in
// shared memory: each has its SharedWords in a group (llcl/board/group.h).
//
//   SharedWords | ready, base |  written by its owner, read by the neighbours      one line
//               | done, left  |  written by the others, read by its owner          one line
//
//   ready  n -> n + 1    the owner, release: the rows that others read in step n + 1 of all halo
//                        steps of this array have their values
//   done   m -> m + 1    a reader, release: it has read one of the owner's boxes
//   base   null -> p     the owner, release, in open(): where its block lies
//          p -> q        the owner, relaxed, in each assignment between sections: where its source
//                        lies. The release of `ready` in the same step publishes it: readers load
//                        it after they have acquired that `ready`, and before they add to `done`,
//                        for which the owner waits before the next step
//   left   k -> k + 1    a member, release, once: it uses no other member's block any more. One
//                        word for all, that of the first member of the node
//
// The steps are the same at all members (halo_plan.h), so a reader in its n-th step waits for
// ready >= n, and an owner knows how many boxes others read in each step: it returns from a halo
// exchange, and its caller may write the block, when done has reached their sum. Nobody waits for
// members that are not its neighbours.
//
// Which operations may run at once, for the words of one owner:
//
//               raise ready      read a box   count the box as read   wait for done
//   raise       owner alone      any          any                     after it, by the owner
//   read a box  any              any          after it, by a reader   any: the wait goes on
//   count it    any              any          any: atomic addition    any
//
// Progress: wait-free but for the waits named here, which advance the task's other transfers
// (llcl/requests/wait.h). Death of an owner before ready, or of a reader before done, also in a
// read: its peer waits for it until the job has ended (law 4). A block whose reader died is intact.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "llcl/board/group.h"
#include "match/contexts.h"
#include "processes/process_set.h"

namespace nagaya::array {

struct SharedWords {
  std::atomic<uint64_t> ready;
  std::atomic<std::byte*> base;
  alignas(mailbox::kLineBytes) std::atomic<uint64_t> done, left;
};

class Members {
 public:
  Members(std::shared_ptr<const processes::ProcessSet> processes, uint64_t name)
      : processes_(std::move(processes)), name_(name) {}

  // Publishes the address of the own block to the other members of the node. Returns 0, -ENOMEM.
  int open(llcl::Board& board, task::TaskRecord& self, std::byte* base);

  const processes::ProcessSet& processes() const { return *processes_; }
  uint32_t rank() const { return processes_->rank(); }
  uint32_t size() const { return processes_->size(); }
  bool is_here(uint32_t rank) const { return processes_->is_here(rank); }
  nagaya_process process(uint32_t rank) const { return processes_->process(rank); }

  // ---- members of this node, once the group is open

  bool is_open() const { return group_.is_open(); }
  // Returns the address of a member's block; nullptr: it has not opened yet. Acquire: pairs with
  // open().
  std::byte* base_of(uint32_t rank) const {
    return words_of(rank).base.load(std::memory_order_acquire);
  }

  // Publishes another address than open() has, before the show_ready() of its step.
  void show_base(std::byte* base) { own_words().base.store(base, std::memory_order_relaxed); }
  // Begins a step: from now on others may read the own rows, in that many boxes.
  void show_ready(uint64_t boxes) {
    boxes_offered_ += boxes;
    std::atomic<uint64_t>& ready = own_words().ready;
    // Release: the rows. Pairs with is_ready.
    ready.store(ready.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  // Whether others may read a member's rows in the caller's step. The member may be a step ahead.
  bool is_ready(uint32_t rank) const {
    const uint64_t wanted = own_words().ready.load(std::memory_order_relaxed);  // the own word
    return words_of(rank).ready.load(std::memory_order_acquire) >= wanted;  // pairs with show_ready
  }
  // Counts a box of a member as read. Release: pairs with is_all_read.
  void count_read(uint32_t rank) { words_of(rank).done.fetch_add(1, std::memory_order_release); }
  // Whether others have read all boxes that show_ready() has counted. Acquire: pairs with
  // count_read.
  bool is_all_read() const {
    return own_words().done.load(std::memory_order_acquire) == boxes_offered_;
  }
  // Counts the caller as one that uses no other member's block any more. Once. Release: pairs with
  // have_all_left.
  void leave() {
    first_words().left.fetch_add(1, std::memory_order_release);
    group_.wake();
  }
  // Whether all members of the node have left. Acquire: pairs with leave.
  bool have_all_left() const {
    return first_words().left.load(std::memory_order_acquire) == group_.members().size();
  }
  // Wakes a member that may wait for a word that the caller has stored.
  void wake(uint32_t rank) const { group_.wake_one(processes_->index_of(rank)); }

  // ---- messages

  // Returns the envelope of a box of `sender` for a side of the receiver's shadow.
  nagaya_envelope envelope(uint32_t sender, uint32_t side) const {
    return match::array_envelope(name_, sender, side);
  }

 private:
  // Returns the words of a member that lives on this node.
  SharedWords& words_of(uint32_t rank) const {
    return *reinterpret_cast<SharedWords*>(group_.part(processes_->index_of(rank)));
  }
  SharedWords& own_words() const { return words_of(rank()); }
  SharedWords& first_words() const { return *reinterpret_cast<SharedWords*>(group_.part(0)); }

  const std::shared_ptr<const processes::ProcessSet> processes_;
  const uint64_t name_;
  llcl::Group group_;
  uint64_t boxes_offered_ = 0;  // own boxes in all steps so far, for others to read
};

}  // namespace nagaya::array
