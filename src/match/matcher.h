// SPDX-License-Identifier: BSD-3-Clause
// matcher.h - a task's two-sided messages: what it sends, and how what comes finds its receive.
//
//        other tasks                                the task
//   ┌──────────────────┐   cells   ┌─────────┐  next   ┌────────────────┐   ┌──────────────────┐
//   │ try_send, send   │ ────────► │ mailbox │ ──────► │ posted receives│   │ deliver: copies, │
//   └──────────────────┘           └─────────┘         │ unexpected     │──►│ answers, completes│
//        ▲     answers                                 └────────────────┘   └──────────────────┘
//        └──────────────────────────────────────────────────────────────────────────┘
//
// A cell for which a mailbox has no room waits in `outbox_`; behind it all others to the same task,
// so that their order stays.
//
// Who moves what, when there are threads: queues, pool and outbox under `lock_`; copies and
// `complete` functions outside of it. A cell is taken and matched in one turn of the lock, so that
// threads do not overtake each other between the two.
#pragma once

#include <deque>
#include <unordered_map>

#include "llcl/board.h"
#include "match/eager_pool.h"
#include "match/queues.h"
#include "task/spin_lock.h"

namespace nagaya::match {

class Matcher {
 public:
  static constexpr size_t kEagerMaxDefault = 4096;  // PVAS, 2015

  // The calling task's; `self` is its name on the board. `threads`: several may call at once.
  Matcher(llcl::Board& board, mailbox::Owner self, size_t eager_max, bool threads);

  size_t eager_max() const { return eager_max_; }

  // The contracts are those of nagaya/match.h.
  int try_send(nagaya_process to, const Envelope& envelope, const void* data, size_t bytes,
               uint32_t* serial);
  int send(nagaya_send& send);
  int cancel(nagaya_send& send);
  int receive(nagaya_receive& receive);
  int cancel(nagaya_receive& receive);
  int probe(const Envelope& wanted, nagaya_message_description* out);
  int take(const Envelope& wanted, nagaya_message_description* out, nagaya_message** message);
  int receive_taken(nagaya_message* message, nagaya_receive& receive);
  int progress();

 private:
  // Between a lock that is there and one that is not needed.
  class Turn {
   public:
    explicit Turn(Matcher& matcher) : matcher_(matcher) {
      if (matcher_.locks_) matcher_.lock_.lock();
    }
    ~Turn() {
      if (matcher_.locks_) matcher_.lock_.unlock();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Matcher& matcher_;
  };

  // What there is to do for one cell, outside of the lock.
  struct Step {
    nagaya_receive* receive = nullptr;  // gets `incoming`
    nagaya_send* sent = nullptr;        // is complete
    Incoming incoming;
  };
  // A cell, or a send that could not begin, for a mailbox that was full.
  struct Waiting {
    nagaya_send* send;  // nullptr: the cell
    CellKind kind;
    Cell cell;
  };

  // A task of this node that takes part. Acquire: pairs with the other endpoint's constructor.
  bool is_here(nagaya_process to) const {
    return to.node == board_.node.load(std::memory_order_relaxed) && to.task < board_.capacity &&
           board_.attached[to.task].load(std::memory_order_acquire) != 0;
  }
  int post(uint32_t task, CellKind kind, const Cell& cell, size_t bytes);
  int post_eager(uint32_t task, const Envelope& envelope, uint32_t serial, const void* data,
                 size_t bytes);
  int post_rendezvous(nagaya_send& send);
  // Puts the send's cell into the mailbox. 0: `is_over` says whether it is complete with that.
  int begin(nagaya_send& send, bool& is_over);
  bool withdraw(nagaya_send& send);  // from the outbox; false: it is not there
  void post_or_wait(uint32_t task, CellKind kind, const Cell& cell);
  bool must_wait(uint32_t task) const { return !outbox_.empty() && outbox_.contains(task); }

  bool next(Step& step);
  bool somebody_waits();  // in the outbox
  int send_waiting(std::deque<nagaya_send*>& over);
  int give_way();
  void deliver(const Incoming& incoming, nagaya_receive& receive);
  void store(nagaya_receive& receive, const std::byte* data, size_t bytes, uint32_t peer);
  void answer(const Cell& asked, CellKind kind);
  nagaya_send* answered(nagaya_send& send, CellKind answer);
  bool forget(const Cell& cancel);

  llcl::Board& board_;
  mailbox::Owner self_;
  mailbox::Mailbox& mailbox_;
  size_t eager_max_;
  bool locks_;
  task::SpinLock lock_;
  std::atomic<uint32_t> fruitless_ = 0;  // looks in a row, about: relaxed, not counted exactly
  uint32_t last_serial_ = 0;
  Posted posted_;
  UnexpectedQueue unexpected_;
  EagerPool pool_;
  std::unordered_map<uint32_t, std::deque<Waiting>> outbox_;  // by task
};

}  // namespace nagaya::match
