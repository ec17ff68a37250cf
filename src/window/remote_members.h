// SPDX-License-Identifier: BSD-3-Clause
// remote_members.h - the members of a window over several nodes, as each member sees those on other
// nodes: where their memory and their Parts lie, and the requests to them that are under way.
//
//   in the node        loads and stores of the caller          window.h, access.h, locks.h
//   between nodes      requests of llcl, this file             remote_access.h, remote_locks.h
//   fence, closing     a barrier of all members                a team of coll
//
// Every member registers its memory and its Part; the opening gives all registrations to all.
// Accesses go on when their call has returned, and are complete after a flush. So do the changes of
// a Part's words that only tell something (signal): they are complete before the closing. Others
// are complete when the call returns. The other node's delegatee wakes the Part's owner. A member
// that waits for the word of another one is not woken, and looks again and again (ask_until).
//
// Threads: any thread may call any function, but barrier() one at a time.
// Functions throw base::Error if a node is lost, or std::bad_alloc.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "llcl/requests/wait.h"
#include "mailbox/machine.h"
#include "nagaya/coll.h"
#include "window/remote_attachments.h"
#include "window/sides.h"
#include "window/window.h"

namespace nagaya::window {

// Waits, as all waits of llcl.h do, until is_over(). Returns 0, -ETIMEDOUT.
template <class IsOver>
int wait(llcl::Purpose purpose, IsOver is_over, int timeout_ms = -1) {
  const auto call = [](void* context) -> int { return (*static_cast<IsOver*>(context))(); };
  return llcl::wait(purpose, call, &is_over, timeout_ms);
}

class RemoteMembers {
 public:
  static constexpr uint64_t kContexts = NAGAYA_TEAMS_WINDOWS;  // windows have lower ones

  RemoteMembers(uint64_t context, const nagaya_processes& members,
                std::shared_ptr<const processes::ProcessSet> set, bool has_threads);
  ~RemoteMembers();
  RemoteMembers(const RemoteMembers&) = delete;

  // Called by all members. Registers the caller's memory, unless it has an error, and exchanges the
  // registrations. Returns the error of the lowest rank that has one.
  int exchange(Window& window, int error);
  void barrier();

  const processes::RanksByNode& by_node() const { return set_->by_node(); }
  uint32_t own_node() const { return by_node().node_of(set_->rank()); }

  MemorySize memory(uint32_t rank) const { return {members_[rank].bytes, members_[rank].unit}; }
  // The place in a member's memory, `offset` bytes behind its begin; not of a dynamic window.
  nagaya_remote place(uint32_t rank, uint64_t offset) const {
    return place_in_region(rank, members_[rank].memory_region, offset);
  }

  // Starts an access: request(on_complete), which returns as a `try_` function of llcl.h, is called
  // until there is room. Returns 0 or its error.
  template <class Request>
  int start(uint32_t rank, Request request) {
    return start(members_[rank].accesses, request);
  }
  // Makes an access, as start() does, and waits until it is complete. Returns its error, too.
  template <class Request>
  int run(Request request) {
    uint32_t done = 0;
    int error = -EAGAIN;
    wait(llcl::Purpose::kRequest,
         [&] { return (error = request(::nagaya_flag(&done))) != -EAGAIN; });
    return error != 0 ? error : ::nagaya_llcl_wait_flag(&done, -1);
  }
  // Starts an accumulate, as start() does. llcl keeps those of one thread in order; if several
  // threads may call, each is complete on return.
  template <class Request>
  int start_in_order(uint32_t rank, Request request) {
    const int error = start(rank, request);
    return error != 0 || !has_threads_ ? error : flush(rank);
  }
  // Wait until the caller's accesses to a member, or to all, are complete. Return 0, or -EIO: one
  // has failed.
  int flush(uint32_t rank) { return flush(members_[rank].accesses); }
  int flush_all();

  // Tell a member that the caller has posted to it, or has completed its epoch for it: behind the
  // caller's accesses to that member.
  void post(uint32_t rank);
  void complete(uint32_t rank);
  // Waits until all signals have come. Returns 0, or -EIO: one has failed.
  int await_signals() { return flush(signals_); }

  // ---- dynamic windows

  // May throw std::bad_alloc.
  int attach(void* base, uint64_t bytes) {
    const std::lock_guard lock(attachments_lock_);
    return published_->attach(base, bytes);
  }
  void detach(const void* base) {
    const std::lock_guard lock(attachments_lock_);
    published_->detach(base);
  }
  // Returns where [begin, begin + bytes) of a member's addresses is registered. `is_new`: asks the
  // member's node, else first looks at earlier answers. Region 0: not all of it is attached.
  nagaya_remote find_attached(uint32_t rank, uint64_t begin, uint64_t bytes, bool is_new);

  // ---- words of a member's Part; `at`: where the word lies there

  // An atomic on a word; sequentially consistent.
  struct Change {
    uint64_t at;
    nagaya_operation operation;
    nagaya_type type;
    uint64_t operand, expected = 0;
  };
  static Change change(uint64_t at, nagaya_operation operation, uint32_t operand,
                       uint32_t expected = 0) {
    return {at, operation, NAGAYA_UINT32, operand, expected};
  }
  static Change change(uint64_t at, nagaya_operation operation, uint64_t operand,
                       uint64_t expected = 0) {
    return {at, operation, NAGAYA_UINT64, operand, expected};
  }
  template <class Word>
  static Change load(uint64_t at) {
    return change(at, NAGAYA_ADD, Word{0});
  }
  // Makes changes in one message, and waits for them. Returns the words from before.
  template <size_t kCount>
  std::array<uint64_t, kCount> apply(uint32_t rank, const Change (&changes)[kCount]) {
    static_assert(kCount <= kChangesAtOnce);
    std::array<uint64_t, kCount> before{};
    apply(rank, changes, before.data());
    return before;
  }
  uint64_t apply(uint32_t rank, const Change& one) {
    uint64_t before = 0;
    apply(rank, std::span(&one, 1), &before);
    return before;
  }
  // Makes a change of which the caller need not know when it takes effect: behind its accesses to
  // the member.
  void signal(uint32_t rank, const Change& change);

  // Calls is_over(), which asks another node, until it returns true: the longer it takes, the less
  // often, so that the answer comes late by an eighth of the time, or by a millisecond.
  template <class IsOver>
  static void ask_until(IsOver is_over) {
    for (const uint64_t begin_ns = mailbox::Machine::now_ns(); !is_over();) {
      const uint64_t now_ns = mailbox::Machine::now_ns(), end_ns = now_ns + (now_ns - begin_ns) / 8;
      wait(
          llcl::Purpose::kLock, [&] { return mailbox::Machine::now_ns() >= end_ns; },
          kLongestPauseMs);
    }
  }

  // ---- how the caller has locked a member

  Ticket& ticket(uint32_t rank) { return members_[rank].ticket; }

 private:
  static constexpr size_t kChangesAtOnce = 4;
  static constexpr int kLongestPauseMs = 1;

  // Requests of the caller: how many it has started, and how many of them are complete.
  struct Count {
    uint64_t started, completed;  // completed: a counter of llcl.h
  };
  // A member tells this to the others at the opening.
  struct Registration {
    uint64_t bytes, unit;
    uint32_t memory_region, part_region;  // 0: none
    uint32_t kind;
    int32_t error;
  };
  struct Member : Registration {
    Count accesses;
    Ticket ticket;  // the latest of the caller's
  };

  template <class Request>
  static int start(Count& count, Request request) {
    // First: another thread's flush must not take this request's completion for that of its own.
    std::atomic_ref(count.started).fetch_add(1, std::memory_order_relaxed);
    int error = -EAGAIN;
    wait(llcl::Purpose::kRequest,
         [&] { return (error = request(::nagaya_counter(&count.completed))) != -EAGAIN; });
    if (error != 0) std::atomic_ref(count.completed).fetch_add(1, std::memory_order_relaxed);
    return error;
  }
  static int flush(Count& count);

  nagaya_remote place_in_region(uint32_t rank, uint32_t region, uint64_t offset) const {
    return {set_->process(rank), region, 0, offset};
  }
  int register_own(Window& window, Registration& own);
  int read(uint32_t rank, uint32_t region, void* to, uint64_t bytes);
  bool read_list(uint32_t rank, uint64_t word, std::vector<AttachedRegion>& regions);
  void find_attachments(uint32_t rank);
  int gather(const Registration& own, std::vector<Registration>& all);
  nagaya_llcl_atomic atomic(uint32_t rank, const Change& change, uint64_t* before,
                            const nagaya_completion& on_complete) const;
  void apply(uint32_t rank, std::span<const Change> changes, uint64_t* before);

  const std::shared_ptr<const processes::ProcessSet> set_;
  const bool has_threads_;
  nagaya_team* team_ = nullptr;
  nagaya_remote own_memory_{}, own_part_{};
  std::vector<Member> members_;
  Count signals_{};
  std::optional<PublishedAttachments> published_;
  task::SpinLock attachments_lock_;      // of the next two
  std::vector<FoundAttachments> found_;  // by rank
};

}  // namespace nagaya::window
