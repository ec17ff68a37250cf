// SPDX-License-Identifier: BSD-3-Clause
// endpoint.h - a task's own part in the communication: its board, its name there, a lane for each
// of its threads that makes requests to other nodes, and one thread, the completer, that runs
// callbacks and handlers.
//
// States of a lane that the task has claimed:
//
//   a thread's -> nobody's    the thread, as it ends: nothing waits in it
//   a thread's -> left        the thread, as it ends: commands wait, which the task's death drops
//   left       -> a thread's  the task's next thread that needs a lane
//   any        -> nobody's    the host, after the task's end
//
// A forked child of a task has no endpoint: it lives in a copy of the space.
#pragma once

#include <pthread.h>

#include <array>
#include <bitset>
#include <concepts>
#include <mutex>
#include <span>

#include "base/catch_errors.h"
#include "llcl/board/board.h"
#include "llcl/board/message.h"
#include "llcl/requests/completion.h"
#include "llcl/requests/parked.h"
#include "llcl/requests/wait.h"
#include "nagaya/llcl.h"

namespace nagaya::llcl {

class Endpoint {
 public:
  // Returns the endpoint of the calling task; nullptr outside of spaces, or when the space has no
  // board of this version.
  static Endpoint* own();

  Board& board() const { return *board_; }
  mailbox::Owner owner() const { return owner_; }
  task::TaskRecord& record() const { return *record_; }

  // Returns whether the calling task is processes[rank], and all processes of the same node have
  // task numbers that there may be.
  bool is_member(std::span<const nagaya_process> processes, uint32_t rank) const;

  // Counts the calling thread among those that want a processor (Board::load) until it ends.
  void be_counted() { own_lane(); }

  bool is_here(uint32_t node) const { return node == board_->node.load(std::memory_order_relaxed); }
  bool is_here(nagaya_process process) const { return is_here(process.node); }
  // Finds the memory of a process of this node that `place` names.
  Found find(const nagaya_remote& place, uint64_t bytes) const {
    return board_->regions->find(place.region, place.process.task, place.offset, bytes);
  }

  // Acquire: pairs with the store when the job is wired up.
  bool is_a_node(uint32_t node) const {
    return node < board_->nodes.load(std::memory_order_acquire);
  }

  // Returns the lane of the calling thread, and claims one at the first call; kNoLane: all lanes
  // are taken.
  uint32_t own_lane() {
    return lane_of_thread_ != Lanes::kNoLane ? lane_of_thread_ : claim_first_lane();
  }
  // Claims a lane until the task ends, for threads that take turns by a lock of their own. Returns
  // kNoLane if all lanes are taken.
  uint32_t claim_common_lane();

  // Queues a request to `node` for the delegatee: fill(command) writes the command into its cell of
  // the lane, except requester and completion. Returns 0, -EAGAIN (the thread's lane is full, and
  // the thread is not the completer, whose requests are parked), -ENOBUFS (no lane is left),
  // -EINVAL (no such node), or, with a callback or for the completer, -ENOMEM (no memory, or the
  // completer cannot be started).
  template <std::invocable<Command&> Fill>
  int submit(uint32_t node, const nagaya_completion& on_complete, Fill fill) {
    if (!is_a_node(node)) return -EINVAL;
    return submit_by(own_lane(), on_complete, fill);
  }
  // Queues a request as submit() does, but through a given lane and to a node that exists.
  template <std::invocable<Command&> Fill>
  int submit_by(uint32_t lane, const nagaya_completion& on_complete, Fill fill) {
    if (lane == Lanes::kNoLane) return -ENOBUFS;
    const bool has_callback = on_complete.kind == NAGAYA_CALLBACK;
    if (!has_callback) touch(on_complete);
    const uint64_t completion =
        has_callback ? new_callback(on_complete) : reinterpret_cast<uint64_t>(on_complete.data);
    if (has_callback && completion == 0) return -ENOMEM;
    const auto fill_all = [&](Command& command) {
      fill(command);
      command.requester = static_cast<uint16_t>(record_->number);
      command.completion_kind = static_cast<Completion>(on_complete.kind);
      command.completion = completion;
    };
    const bool has_earlier = may_have_parked() && parks(lane) && parked_.has_commands();
    int error = has_earlier || !push(lane, fill_all) ? -EAGAIN : 0;
    if (error == 0) [[likely]] {
      board_->bell_of(lane).ring_after_fence();
      return 0;
    }
    if (parks(lane)) error = park_command(fill_all);
    if (error != 0 && has_callback) drop_callback(completion);
    return error;
  }
  // Queues a fence. It completes when all earlier commands of the calling thread to `node` have.
  int ask_fence(uint32_t node, const nagaya_completion& on_complete) {
    return submit(node, on_complete, [&](Command& command) {
      command = {};
      command.op = Op::kFence;
      command.node = node;
    });
  }
  // Waits until the calling thread's earlier commands to a node are complete. Returns as submit(),
  // but -ETIMEDOUT for -EAGAIN, or the node's error.
  int flush(uint32_t node, int timeout_ms);

  // Names `function` as the handler for active messages with that number. Returns 0, -EEXIST,
  // -EINVAL, -ENOMEM (the completer cannot be started).
  int handle(uint32_t number, nagaya_handler* function, void* context);
  // Sends an active message to a task of this node. The message is complete when the call returns,
  // unless the completer has sent it and it was parked. Returns 0, -EAGAIN, -EINVAL (no such task),
  // -ENOMEM.
  int send(uint32_t task, uint32_t handler, const void* data, size_t bytes,
           const nagaya_completion& on_complete);

  // The Wait that all threads of the task share.
  Wait& waits() { return waits_; }
  // Returns where the thread of a lane shows whether it waits; nullptr if it has no lane.
  LaneWaiter* waiter_of(uint32_t lane) const {
    return lane == Lanes::kNoLane ? nullptr : &board_->lane_waiters[lane];
  }
  Recorder& recorder() { return waits_.recorder(); }
  // Waits until ready(), then returns 0; -ETIMEDOUT after timeout_ms (-1: never).
  template <class Ready>
  int wait(Purpose purpose, Ready ready, int timeout_ms) {
    return wait_until(purpose, ready, deadline_of(timeout_ms));
  }
  // Waits until ready(), then returns 0; -ETIMEDOUT after timeout_us.
  template <class Ready>
  int wait_for(Purpose purpose, Ready ready, uint64_t timeout_us) {
    const uint64_t now_ns = mailbox::Machine::now_ns();
    const bool is_for_ever = timeout_us > (mailbox::kNever - now_ns) / 1000;
    return wait_until(purpose, ready, is_for_ever ? mailbox::kNever : now_ns + 1000 * timeout_us);
  }
  // Waits until ready(), without a deadline. Calls probe() as Wait::until() does.
  template <class Ready, class Probe = decltype([] {})>
  void wait(Purpose purpose, Ready ready, Probe probe = {}) {
    wait_until(purpose, ready, mailbox::kNever, probe);
  }
  // Waits until ready(), then returns 0; -ETIMEDOUT after timeout_ms. Ends with the error if a
  // registered library cannot go on: for callers whose users can remove the cause.
  template <class Ready>
  int wait_or_fail(Purpose purpose, Ready ready, int timeout_ms) {
    return wait_until(
        purpose, ready, deadline_of(timeout_ms), [] {}, Wait::OnError::kEnd);
  }

 private:
  struct Handler {
    std::atomic<nagaya_handler*> function;  // release after `context`, acquire before it
    void* context;
  };

  // The flag of a fence. The delegatee stores into `done` even when its waiter has given up, so a
  // Fence is never freed, and is used again only once `done` is not 0.
  struct Fence {
    std::atomic<uint32_t> done;
    Fence* next;
  };

  explicit Endpoint(task::TaskRecord& record);

  static uint64_t deadline_of(int timeout_ms) {
    if (timeout_ms < 0) return mailbox::kNever;
    return mailbox::Machine::now_ns() + static_cast<uint64_t>(timeout_ms) * 1'000'000;
  }
  template <class Ready, class Probe = decltype([] {})>
  int wait_until(Purpose purpose, Ready ready, uint64_t deadline_ns, Probe probe = {},
                 Wait::OnError on_error = Wait::OnError::kWaitOn) {
    if (ready()) return 0;
    if (is_completer_) [[unlikely]]
      return wait_and_retry(purpose, ready, deadline_ns, probe, on_error);
    return waits_.until(purpose, ready, deadline_ns, waiter_of(own_lane()), probe, on_error);
  }
  // Waits in the completer, whose handler may wait for a request that is parked: retries these
  // every kRetryNs, because no bell rings when a mailbox has room.
  template <class Ready, class Probe>
  int wait_and_retry(Purpose purpose, Ready ready, uint64_t deadline_ns, Probe probe,
                     Wait::OnError on_error) {
    const auto is_over = [&] {
      retry_parked();
      return ready();
    };
    for (;;) {
      const uint64_t nap_ns = parked_nap_ends_ns();
      const uint64_t end_ns = nap_ns < deadline_ns ? nap_ns : deadline_ns;
      const int error =
          waits_.until(purpose, is_over, end_ns, waiter_of(own_lane()), probe, on_error);
      if (error != -ETIMEDOUT || end_ns == deadline_ns) return error;
    }
  }

  // Reads the flag or counter, so that a bad address faults here and not in the delegatee.
  static void touch(const nagaya_completion& on_complete) {
    if (on_complete.kind == NAGAYA_FLAG || on_complete.kind == NAGAYA_COUNTER)
      static_cast<void>(*static_cast<const volatile uint32_t*>(on_complete.data));
  }
  uint64_t new_callback(const nagaya_completion& on_complete);  // 0: no memory, or no thread
  static void drop_callback(uint64_t callback);
  uint32_t claim_first_lane();
  uint32_t claim_lane();
  void leave_lane(uint32_t lane);
  Fence* take_fence();  // nullptr: no memory
  void give_back(Fence* fence);
  int await(Fence& fence, uint32_t node, uint64_t deadline_ns);
  template <std::invocable<Command&> Fill>
  bool push(uint32_t lane, Fill fill) {
    // Relaxed: it was stored before `nodes`.
    Ring* const ring = board_->ring.load(std::memory_order_relaxed);
    return ring == nullptr ? board_->lanes->push(lane, fill) : ring->push(lane, fill);
  }
  // Relaxed: only the completer acts on it; other threads need not see its stores.
  bool may_have_parked() const { return has_parked_.load(std::memory_order_relaxed); }
  uint64_t parked_nap_ends_ns() const {
    return may_have_parked() ? mailbox::Machine::now_ns() + Parked::kRetryNs : mailbox::kNever;
  }
  // Whether a request that finds the lane full is parked and not refused: the caller is the
  // completer and the lane its own.
  static bool parks(uint32_t lane) { return is_completer_ && lane == lane_of_thread_; }
  // Returns 0, -ENOMEM.
  template <std::invocable<Command&> Fill>
  int park_command(Fill fill) {
    const int error = base::catch_errors([&] {
      parked_.add_command(fill);
      return 0;
    });
    has_parked_.store(!parked_.is_empty(), std::memory_order_relaxed);
    return error;
  }
  void retry_parked();
  bool start_completer();
  void complete_forever();
  void dispatch(const mailbox::Message& message);
  void call_handler(const ActiveMessage& message);
  void drop_unhandled(const ActiveMessage& message);
  int park(uint32_t task, const ActiveMessage& message, const nagaya_completion& on_complete);
  mailbox::Mailbox& mailbox() const { return board_->mailboxes[record_->number]; }

  // State of the calling thread.
  static inline thread_local constinit uint32_t lane_of_thread_ = Lanes::kNoLane;
  static inline thread_local constinit bool is_completer_ = false;

  // The key's destructor gives back the lane of a thread that ends. It runs after the destructors
  // of all thread_local objects, which may make requests, and again if another key's destructor
  // makes one.
  pthread_key_t at_thread_end_ = UINT32_MAX;
  task::TaskRecord* record_;
  Board* board_;
  mailbox::Owner owner_;
  std::atomic<bool> has_parked_{};  // stored by the completer
  Wait waits_;
  std::atomic<bool> has_completer_{};  // stored under the lock
  std::mutex lock_;  // taken by threads that name handlers, start the completer, fence
  Fence* fences_ = nullptr;
  std::array<Handler, 256> handlers_{};
  Parked parked_;                    // used by the completer only
  std::bitset<256> told_unhandled_;  // completer only: unhandled numbers that it has reported
};

// The result in a completed flag: 0 or a negative errno.
inline int error_of(uint32_t flag) {
  return static_cast<int32_t>(flag) < 0 ? static_cast<int32_t>(flag) : 0;
}

}  // namespace nagaya::llcl
