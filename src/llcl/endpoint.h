// SPDX-License-Identifier: BSD-3-Clause
// endpoint.h - what a task needs to take part: its board, its name there, a lane for each of its
// threads that makes requests to other nodes, and one thread that calls back.
//
// A lane, of the task that has claimed it:
//
//   a thread's -> nobody's    the thread, as it ends: nothing waits in it
//   a thread's -> left        the thread, as it ends: commands wait, which the task's death drops
//   left       -> a thread's  the task's next thread that needs a lane
//   any        -> nobody's    the host, after the task's end
//
// A forked child of a task has no endpoint: it lives in a copy of the space.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <mutex>
#include <utility>

#include "llcl/board.h"
#include "llcl/message.h"
#include "nagaya/llcl.h"

namespace nagaya::llcl {

class Endpoint {
 public:
  // Of the calling task; nullptr outside of spaces, or when the space has no board of this version.
  static Endpoint* own();

  Board& board() const { return *board_; }
  mailbox::Owner owner() const { return owner_; }
  task::TaskRecord& record() const { return *record_; }

  // The calling thread counts among those that want a processor, from now until it ends.
  void be_counted() { own_lane(); }

  bool is_here(uint32_t node) const { return node == board_->node.load(std::memory_order_relaxed); }
  bool is_here(nagaya_process process) const { return is_here(process.node); }
  // Memory of a process of this node.
  Found find(const nagaya_remote& place, uint64_t bytes) const {
    return board_->regions->find(place.region, place.process.task, place.offset, bytes);
  }

  // Acquire: pairs with the store when the job is wired up.
  bool is_a_node(uint32_t node) const {
    return node < board_->nodes.load(std::memory_order_acquire);
  }

  // Of the calling thread; kNoLane: all are taken.
  uint32_t own_lane() {
    return lane_of_thread_ != Lanes::kNoLane ? lane_of_thread_ : claim_first_lane();
  }
  // For threads that take turns by a lock of theirs, until the task ends; kNoLane.
  uint32_t claim_common_lane();

  // For the delegatee, a request of `node`: fill(command) writes the command in its place in the
  // lane, all but its requester and completion. Returns 0, -EAGAIN (the thread's lane is full),
  // -ENOBUFS (no lane is left), -EINVAL (no such node), or, with a callback, -ENOMEM (no memory, or
  // no thread to call).
  template <std::invocable<Command&> Fill>
  int submit(uint32_t node, const nagaya_completion& on_complete, Fill fill) {
    if (!is_a_node(node)) return -EINVAL;
    return submit_by(own_lane(), on_complete, fill);
  }
  // The same through a given lane, to a node that there is.
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
    // Relaxed: it was stored before `nodes`.
    Ring* const ring = board_->ring.load(std::memory_order_relaxed);
    const bool is_pushed =
        ring == nullptr ? board_->lanes->push(lane, fill_all) : ring->push(lane, fill_all);
    if (!is_pushed) {
      if (has_callback) drop_callback(completion);
      return -EAGAIN;
    }
    board_->delegatee_bell.ring_after_fence();
    return 0;
  }
  // A fence: complete when the calling thread's earlier commands to `node` are.
  int ask_fence(uint32_t node, const nagaya_completion& on_complete) {
    return submit(node, on_complete, [&](Command& command) {
      command = {};
      command.op = Op::kFence;
      command.node = node;
    });
  }
  // Awaits the calling thread's earlier commands to a node. Returns as submit, but -ETIMEDOUT for
  // -EAGAIN, or the node's error.
  int flush(uint32_t node, int timeout_ms);

  // Returns 0, -EEXIST, -EINVAL, -ENOMEM (no thread to call it).
  int handle(uint32_t number, nagaya_handler* function, void* context);
  // To a task of this node. Returns 0, -EAGAIN, -EINVAL (no such task), -ENOMEM.
  int send(uint32_t task, uint32_t handler, const void* data, size_t bytes);

  // Looks until ready() or the time is up (-1: for ever), sleeping in between; the last ready().
  template <class Ready>
  bool wait(Ready ready, int timeout_ms) {
    return wait_until(ready, deadline_of(timeout_ms));
  }
  // For ever, and while the thread sleeps calls probe() about every second: it may change what
  // ready() says, and must not wait itself.
  template <class Ready, class Probe>
  void wait(Ready ready, Probe probe) {
    wait_until(ready, mailbox::kNever, probe);
  }

 private:
  struct Handler {
    std::atomic<nagaya_handler*> function;  // release after `context`, acquire before it
    void* context;
  };

  // One thread's waiting, from its first fruitless look.
  //
  // What is waited for may be stored by anybody, who does not know this thread's bell: look again
  // now and then, and less often the longer it takes. Who notifies looks at the count of sleepers.
  class Patience {
   public:
    // `waiter`: of the thread's lane. nullptr: it has none, and is not counted.
    Patience(Board& board, LaneWaiter* waiter, std::atomic<uint32_t>& sleepers)
        : board_(board), waiter_(waiter), sleepers_(sleepers) {}
    ~Patience() {
      if (looks_ >= kSoon) become(LaneWaiter::kNo);
    }

    // What comes that soon does not come through the network: nobody is told.
    void look() {
      if (++looks_ == kSoon) become(LaneWaiter::kAwake);
    }
    bool is_probe_due() {
      const bool is_due = slept_ns_ >= probe_at_ns_;
      if (is_due) probe_at_ns_ = slept_ns_ + kProbeNs;
      return is_due;
    }
    uint64_t before_sleep() {
      looks_ = std::max(looks_, kSoon);
      become(LaneWaiter::kAsleep);
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      mailbox::Machine::fence();  // store of the count before the last look; see wake_task
      slept_ns_ += nap_ns_;
      return std::exchange(nap_ns_, next_nap_ns());
    }
    void after_sleep() {
      sleepers_.fetch_sub(1, std::memory_order_relaxed);
      become(LaneWaiter::kAwake);
    }

   private:
    static constexpr uint64_t kSoon = 20;
    static constexpr uint64_t kProbeNs = 1'000'000'000;
    static constexpr uint64_t kNapNs = 16'000'000, kLongestNapNs = 250'000'000;

    // Twice as long up to kNapNs; then an eighth of what it has slept, so that tasks that wait for
    // minutes cost nothing, and nobody is late by more than that part.
    uint64_t next_nap_ns() const {
      return std::min(std::max(std::min(2 * nap_ns_, kNapNs), slept_ns_ / 8), kLongestNapNs);
    }
    void become(uint32_t state) {
      if (waiter_ != nullptr) llcl::become(board_.load, *waiter_, state);
    }

    Board& board_;
    LaneWaiter* waiter_;
    std::atomic<uint32_t>& sleepers_;
    uint64_t looks_ = 0, nap_ns_ = 500'000, slept_ns_ = 0, probe_at_ns_ = kProbeNs;
  };

  template <class Probe>
  struct Probing {
    Patience& patience;
    Probe& probe;

    uint64_t before_sleep() {
      if (patience.is_probe_due()) probe();
      return patience.before_sleep();
    }
    void after_sleep() { patience.after_sleep(); }
  };

  // Awaits a fence. The delegatee stores into `done` even when nobody waits for it any more: never
  // freed, used again once it is not 0.
  struct Fence {
    std::atomic<uint32_t> done;
    Fence* next;
  };

  friend struct LaneKeeper;

  explicit Endpoint(task::TaskRecord& record);

  static uint64_t deadline_of(int timeout_ms) {
    if (timeout_ms < 0) return mailbox::kNever;
    return mailbox::Machine::now_ns() + static_cast<uint64_t>(timeout_ms) * 1'000'000;
  }
  // Meanwhile the thread takes part in large copies of others.
  template <class Ready, class Probe = decltype([] {})>
  bool wait_until(Ready is_over, uint64_t deadline_ns, Probe probe = {}) {
    if (is_over()) return true;
    const uint32_t lane = own_lane();
    const bool has_lane = lane != Lanes::kNoLane;
    mailbox::Doorbell unknown{};  // nobody rings it: the naps end by themselves
    Patience patience(*board_, has_lane ? &board_->lane_waiters[lane] : nullptr,
                      board_->sleepers[record_->number].count);
    const auto ready = [&] {
      patience.look();
      while (!is_over())
        if (!board_->copies->any() || !board_->copies->help(owner_)) return false;
      return true;
    };
    return mailbox::Waiting(has_lane ? board_->lane_bells[lane] : unknown, board_->load)
        .until(ready, deadline_ns, Probing<Probe>{patience, probe});
  }

  // A flag or counter that is nowhere faults here, and not in the delegatee.
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
  bool start_completer();
  void complete_forever();
  void dispatch(const mailbox::Message& message);
  void call_handler(const ActiveMessage& message);
  mailbox::Mailbox& mailbox() const { return board_->mailboxes[record_->number]; }

  // Outlives the keeper: later destructors of the thread may make requests.
  static inline thread_local constinit uint32_t lane_of_thread_ = Lanes::kNoLane;

  task::TaskRecord* record_;
  Board* board_;
  mailbox::Owner owner_;
  std::atomic<bool> has_completer_{};  // stored under the lock
  std::mutex lock_;  // among threads that name handlers, start the completer, fence
  Fence* fences_ = nullptr;
  std::array<Handler, 256> handlers_{};
};

// Requester's side of command.h's Completion, for what was done at once.
void complete(const nagaya_completion& on_complete, int error);

// What a completed flag says: 0 or a negative errno.
inline int error_of(uint32_t flag) {
  return static_cast<int32_t>(flag) < 0 ? static_cast<int32_t>(flag) : 0;
}

}  // namespace nagaya::llcl
