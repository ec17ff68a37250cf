// SPDX-License-Identifier: BSD-3-Clause
// matcher.h - a task's two-sided messages: its sends, and the way of each arriving message to its
// receive.
//
//        other tasks, here or elsewhere             the task
//   ┌──────────────────┐  messages ┌─────────┐  next   ┌────────────────┐   ┌──────────────────┐
//   │ try_send, send   │ ────────► │ port    │ ──────► │ posted receives│   │ deliver: copies, │
//   └──────────────────┘           └─────────┘         │ unexpected     │──►│ pulls, answers,  │
//        ▲     answers                                 └────────────────┘   │ completes        │
//        │                                                                  └──────────────────┘
//        └──────────────────────────────────────────────────────────────────────────┘
//
// A message or answer for which its receiver's port has no room waits in the outbox (outbox.h).
//
// Memory: a message is taken out of the port only when there is memory for it and for its
// answer. Without, it stays there, and its senders wait: nothing is lost.
//
// Threads: `lock_` protects queues, port, outbox and the list of pulls. Copies to receivers and
// `complete` functions run outside of it. A thread takes a message and matches it in one turn of
// the lock, so that no other thread's message comes between the two.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "llcl/handles.h"
#include "llcl/port.h"
#include "llcl/pull.h"
#include "llcl/wait.h"
#include "match/outbox.h"
#include "match/queues.h"
#include "task/space/spin_lock.h"

namespace nagaya::match {

class Matcher {
 public:
  static constexpr size_t kEagerMaxDefault = 4096;  // PVAS, 2015

  // `threads`: several may call at once. Every wait of the task moves its messages from now on.
  // Throws std::bad_alloc.
  Matcher(llcl::Port& port, llcl::Pulls& pulls, llcl::Wait& waits, bool threads);
  ~Matcher();
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  size_t eager_max(nagaya_process to) const { return port_.longest(to); }
  nagaya_process own_process() const { return port_.own_process(); }

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
  // Takes the lock where several threads may call; else holds none.
  std::unique_lock<task::SpinLock> locked() {
    return has_threads_ ? std::unique_lock(lock_) : std::unique_lock<task::SpinLock>();
  }

  // The work for one message that is done outside of the lock.
  struct Step {
    nagaya_receive* receive = nullptr;  // gets `incoming`
    nagaya_send* sent = nullptr;        // is complete
    Incoming incoming;
  };
  // A send that other processes know by its handle, and their region of its data.
  struct Known {
    nagaya_send* send;
    uint32_t region;  // 0: none
  };
  // A long message that comes in portions.
  struct Reading {
    llcl::Pull pull;
    nagaya_process sender;
    uint64_t send;  // its handle there
    nagaya_receive& receive;
  };

  int post_rendezvous(nagaya_send& send);
  // Hands the message, or where it is, to the receiver's port. 0: `is_over` says whether it is
  // complete with that.
  int begin(nagaya_send& send, bool& is_over);
  bool begin_late(nagaya_send& send, std::vector<nagaya_send*>& over);
  bool withdraw(nagaya_send& send);  // from the outbox; false: it is not there
  void be_unknown(nagaya_send& send);
  int post(const Outbox::Note& note);
  void post_or_wait(const Outbox::Note& note);

  int advance();
  void keep_memory_for_next();
  int next(Step& step);
  bool find_or_post(nagaya_receive& receive, Incoming& incoming);
  bool take_own(const Envelope& wanted, Incoming& incoming);
  void take_along();
  nagaya_receive* take_for_posted(Incoming& incoming);
  bool has_unfinished();  // in the outbox, or among the pulls
  int send_waiting(std::vector<nagaya_send*>& over);
  uint64_t before_sleep();
  void deliver(const Incoming& incoming, nagaya_receive& receive);
  void pull(const Incoming& incoming, nagaya_receive& receive);
  void end_pull(nagaya_process sender, uint64_t send, nagaya_receive& receive, int error);
  int progress_pulls();
  void put_back(std::list<Reading>& readings);  // the first of them
  void answer(nagaya_process asker, uint64_t send, Kind kind);
  nagaya_send* answered(const Incoming& answer);
  bool forget(const Incoming& cancel);
  void drop(Unexpected& message);

  llcl::Port& port_;
  llcl::Pulls& pulls_;
  llcl::Wait& waits_;
  const bool has_threads_;
  task::SpinLock lock_;
  uint32_t last_serial_ = 0;
  Posted posted_;
  UnexpectedQueue unexpected_;
  std::unique_ptr<Unexpected> spare_;  // for the next message
  uint32_t along_in_vain_ = 0;         // receives that have found no other's message
  Outbox outbox_;
  uint64_t next_try_ns_ = 0;  // to empty the outbox
  std::list<Reading> readings_;
  llcl::Handles<Known> sends_;
};

}  // namespace nagaya::match
