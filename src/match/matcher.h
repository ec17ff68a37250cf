// SPDX-License-Identifier: BSD-3-Clause
// matcher.h - a task's two-sided messages: what it sends, and how what comes finds its receive.
//
//        other tasks                                the task
//   (by delegatees, from other nodes: remote.h)
//   ┌──────────────────┐   cells   ┌─────────┐  next   ┌────────────────┐   ┌──────────────────┐
//   │ try_send, send   │ ────────► │ mailbox │ ──────► │ posted receives│   │ deliver: copies, │
//   └──────────────────┘           └─────────┘         │ unexpected     │──►│ answers, completes│
//        ▲     answers                                 └────────────────┘   └──────────────────┘
//        └──────────────────────────────────────────────────────────────────────────┘
//
// What a mailbox has no room for waits in the outbox (outbox.h).
//
// Memory: a message is taken out of the mailbox only when there is memory for it and for its
// answer. Without, it stays there, and its senders wait: nothing is lost.
//
// Who moves what, when there are threads: queues, pool, outbox and reads under `lock_`, and what is
// sent eagerly into its block; copies to receivers and `complete` functions outside of it. A cell
// is taken and matched in one turn of the lock, so that threads do not overtake each other between
// the two.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "llcl/board.h"
#include "llcl/handles.h"
#include "llcl/layout.h"
#include "llcl/wait.h"
#include "match/eager_pool.h"
#include "match/outbox.h"
#include "match/queues.h"
#include "match/remote.h"
#include "task/spin_lock.h"

namespace nagaya::match {

using llcl::Buffer;
using llcl::Place;

class Matcher {
 public:
  static constexpr size_t kEagerMaxDefault = 4096;  // PVAS, 2015
  // A rendezvous with another node goes five ways in place of one: it is for messages sixteen times
  // as long, up to this. [bytes]
  static constexpr size_t kRemoteEagerMax = 64 << 10;

  // The calling task's; `self` is its name on the board. `threads`: several may call at once. Every
  // wait of the task moves its messages from now on. Throws std::bad_alloc.
  Matcher(llcl::Board& board, mailbox::Owner self, size_t eager_max, bool threads, Remote& remote,
          llcl::Wait& waits);
  ~Matcher();
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  size_t eager_max(nagaya_process to) const {
    return is_own_node(to) ? eager_max_ : remote_eager_max_;
  }
  nagaya_process own_process() const {
    return {board_.node.load(std::memory_order_relaxed), self_.number()};
  }

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
  int drop(uint32_t context);
  int progress() { return waits_.poll(); }

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
  // A long message of another node's, of which a portion is on its way.
  struct Reading {
    Reading(const Cell& message, nagaya_receive& receiver)
        : cell(message),
          receive(receiver),
          bytes(std::min<size_t>(message.rendezvous.bytes, receiver.capacity)) {}

    Cell cell;
    nagaya_receive& receive;
    size_t bytes, taken_bytes = 0;
    size_t asked_bytes = 0;               // of the portion; 0: not asked for
    std::atomic<uint32_t> done = 0;       // of the portion: 1, or a negative errno
    std::unique_ptr<std::byte[]> staged;  // where it goes when the buffer is not one run
  };

  // Whether a message is handed over at once. To a process that does not keep up nothing is, so
  // that what others hold for it stays bounded.
  bool is_eager(nagaya_process to, size_t bytes) const {
    return bytes <= eager_max(to) && (is_own_node(to) || !remote_.has_backlog(to));
  }
  bool is_own_node(nagaya_process process) const {
    return process.node == board_.node.load(std::memory_order_relaxed);
  }
  // On this node a task that takes part. Acquire: pairs with the other endpoint's constructor.
  bool is_reachable(nagaya_process to) const {
    if (!is_own_node(to)) return remote_.has(to);
    return to.task < board_.capacity &&
           board_.attached[to.task].load(std::memory_order_acquire) != 0;
  }
  int post(nagaya_process to, CellKind kind, const Cell& cell, size_t bytes);
  int post_remote(nagaya_process to, CellKind kind, const Cell& header, const void* body,
                  size_t bytes);
  int post_eager(nagaya_process to, const Envelope& envelope, uint32_t serial, const Buffer& data,
                 size_t bytes);
  int post_rendezvous(nagaya_send& send);
  // Puts the send's cell into the mailbox. 0: `is_over` says whether it is complete with that.
  int begin(nagaya_send& send, bool& is_over);
  bool begin_late(nagaya_send& send, std::vector<nagaya_send*>& over);
  bool withdraw(nagaya_send& send);  // from the outbox; false: it is not there
  void be_unknown(nagaya_send& send);
  void post_or_wait(nagaya_process to, CellKind kind, const Cell& cell);

  int try_advance();
  int advance();
  void keep_memory_for_next();
  bool next(Step& step);
  bool find_or_post(nagaya_receive& receive, Incoming& incoming);
  bool take_own(const Envelope& wanted, Incoming& incoming);
  nagaya_receive* take_along(Incoming& incoming);
  bool has_unfinished();  // in the outbox, or among the reads
  int send_waiting(std::vector<nagaya_send*>& over);
  uint64_t before_sleep();
  void expect(nagaya_process from);
  void deliver(const Incoming& incoming, nagaya_receive& receive);
  void read(const Cell& cell, nagaya_receive& receive);
  void ask_for_portion(Reading& reading);
  static void spread(Reading& reading);  // the portion that has come, over the runs of the buffer
  bool take_portion(Reading& reading);   // whether it was the last
  void end(const Cell& cell, nagaya_receive& receive);
  int progress_reads();
  void store(nagaya_receive& receive, const Buffer& from, uint32_t peer);
  void answer(const Cell& asked, CellKind kind);
  nagaya_send* answered(const Incoming& answer, const std::optional<nagaya_process>& elsewhere);
  bool forget(const Cell& cancel);
  void drop(Unexpected& message);

  llcl::Board& board_;
  mailbox::Owner self_;
  mailbox::Mailbox& mailbox_;
  size_t eager_max_, remote_eager_max_;
  bool locks_;
  Remote& remote_;
  llcl::Wait& waits_;
  task::SpinLock lock_;
  uint32_t last_serial_ = 0;
  Posted posted_;
  UnexpectedQueue unexpected_;
  std::unique_ptr<Unexpected> spare_;  // for the next message
  EagerPool pool_;
  EagerPool remote_pool_;  // for messages that are eager between nodes only
  Outbox outbox_;
  std::list<Reading> reads_;
  llcl::Handles<nagaya_send> sends_;  // those that answers are to come for
};

}  // namespace nagaya::match
