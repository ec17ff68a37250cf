// SPDX-License-Identifier: BSD-3-Clause
// matcher.h - a task's two-sided messages: its sends, and the matching of each arriving message
// with a receive.
//
//        other tasks, here or elsewhere             the task
//   ┌──────────────────┐  messages ┌─────────┐  next   ┌────────────────┐   ┌──────────────────┐
//   │ try_send, send   │ ────────► │ port    │ ──────► │ posted receives│   │ deliver: copies, │
//   └──────────────────┘           └─────────┘         │ unexpected     │──►│ pulls, answers,  │
//        ▲     answers                                 └────────────────┘   │ completes        │
//        │                                                                  └──────────────────┘
//        └──────────────────────────────────────────────────────────────────────────┘
//
// Messages and answers wait in the outbox (outbox.h) while their receiver's port has no room.
//
// Memory: the matcher takes a message out of the port only when there is memory for it and for its
// answer. Without memory the message stays in the port, and senders wait: nothing is lost.
//
// Threads: `lock_` protects queues, port, outbox and the list of pulls. Copies to receivers and
// `complete` functions run outside of it. A thread takes a message and matches it without releasing
// the lock between, so that no other thread matches a later message first.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "llcl/requests/handles.h"
#include "llcl/requests/port.h"
#include "llcl/requests/pull.h"
#include "llcl/requests/wait.h"
#include "match/outbox.h"
#include "match/queues.h"
#include "task/space/spin_lock.h"

namespace nagaya::match {

class Matcher {
 public:
  static constexpr size_t kEagerMaxDefault = 4096;  // as published for PVAS in 2015

  // `threads`: several threads may call at once. From now on every wait of the task calls
  // advance(). Throws std::bad_alloc.
  Matcher(llcl::Port& port, llcl::Pulls& pulls, llcl::Wait& waits, bool threads);
  ~Matcher();
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  size_t eager_max(nagaya_process to) const { return port_.eager_max_bytes(to); }
  nagaya_process own_process() const { return port_.own_process(); }

  // nagaya/match.h has the contracts of these functions.
  int try_send(nagaya_process to, const Envelope& envelope, const layout::Buffer& data,
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
  // Takes the lock if several threads may call; else returns an empty guard.
  std::unique_lock<task::SpinLock> locked() {
    return has_threads_ ? std::unique_lock(lock_) : std::unique_lock<task::SpinLock>();
  }

  // The work that one message leaves to do outside of the lock. nullptr: none.
  struct UnlockedWork {
    nagaya_receive* receive = nullptr;      // the receive that `incoming` is delivered to
    nagaya_send* completed_send = nullptr;  // the send that an answer has completed
    Incoming incoming;
  };
  // A send for which other processes have a handle, and the region by which they read its data.
  struct OpenSend {
    nagaya_send* send;
    uint32_t region;  // 0: none
  };
  // A pending pull of a long message, which arrives in portions.
  struct PendingPull {
    llcl::Pull pull;
    nagaya_process sender;
    uint64_t send_handle;  // the sender's handle of its request
    nagaya_receive& receive;
  };

  // Called only while somebody reads what the task does.
  void record_sent(nagaya_process to, const Header& header, size_t bytes);
  void record_received(const Incoming& incoming);

  int post_rendezvous(nagaya_send& send);
  // Posts the message, or a rendezvous for it, to the receiver's port. Returns 0, or an errno.
  // After 0 `is_complete` says whether the send is complete.
  int begin(nagaya_send& send, bool& is_complete);
  bool begin_from_outbox(nagaya_send& send, std::vector<nagaya_send*>& completed);
  bool withdraw(nagaya_send& send);  // from the outbox; false: not in it
  void release_handle(nagaya_send& send);
  int post(const Outbox::Note& note);
  void post_or_wait(const Outbox::Note& note);

  int advance();
  void reserve_memory_for_next();
  int match_next(UnlockedWork& work);
  bool find_or_post(nagaya_receive& receive, Incoming& incoming);
  bool take_from_port(const Envelope& wanted, Incoming& incoming);
  void deliver_to_earlier_receives();
  nagaya_receive* take_for_posted(Incoming& incoming);
  bool has_pending_work();  // messages in the outbox, or pending pulls
  int flush_outbox(std::vector<nagaya_send*>& completed);
  uint64_t before_sleep();
  void deliver(const Incoming& incoming, nagaya_receive& receive);
  void pull(const Incoming& incoming, nagaya_receive& receive);
  void end_pull(nagaya_process sender, uint64_t send_handle, nagaya_receive& receive, int error);
  int progress_pulls();
  void add_pending_pull(std::list<PendingPull>& from);  // moves the first of them to pending_pulls_
  void answer(nagaya_process asker, uint64_t send_handle, Kind kind);
  nagaya_send* send_completed_by(const Incoming& answer);
  bool drop_cancelled(const Incoming& cancel);
  void drop(Unexpected& message);

  llcl::Port& port_;
  llcl::Pulls& pulls_;
  llcl::Wait& waits_;
  const bool has_threads_;
  task::SpinLock lock_;
  uint32_t last_serial_ = 0;
  PostedReceives posted_;
  UnexpectedQueue unexpected_;
  std::unique_ptr<Unexpected> spare_;  // for the next unexpected message
  uint32_t receives_in_vain_ = 0;      // receives since one found a message for an earlier one
  Outbox outbox_;
  uint64_t next_try_ns_ = 0;  // when the outbox is tried again
  std::list<PendingPull> pending_pulls_;
  llcl::Handles<OpenSend> sends_;
};

}  // namespace nagaya::match
