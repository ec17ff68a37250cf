// SPDX-License-Identifier: BSD-3-Clause
// parked.h - queues requests of a task's handlers that found no room in a mailbox or lane.
//
// Handlers run in the thread that empties the task's mailbox. A handler that waited for room in
// another mailbox would keep its own one full, and two tasks could wait for each other for ever. So
// a request of that thread is never refused for want of room: it is parked here, in the task's own
// memory, and the same thread makes it again between two messages and in its waits.
//
//   request ──► no room, or an earlier request ──► parked ──► made again: accepted,
//               to the same receiver is parked                then its completion comes
//
// Order: messages to one task of the node, and commands to the delegatee, each in the order in
// which the handlers have made them.
// Bound: a task that has parked more than kMax requests or kBytesMax of bodies shows kOverloaded in
// TaskWaiter::handler_state; then threads of its node other than completers get -EAGAIN when they
// send to it. Beyond the bound it parks only the answers of handlers to messages that were on their
// way.
// Thread safety: the completer only. Death of the task: its parked requests and its blocks of the
// space heap end with it. Death of a receiver: the completion has the error.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <vector>

#include "llcl/board/board.h"
#include "llcl/board/message.h"
#include "nagaya/llcl.h"

namespace nagaya::llcl {

// Posts an active message to a task of this node. Returns 0, -EAGAIN (its mailbox is full).
int post_message(Board& board, mailbox::Owner sender, uint32_t task, const ActiveMessage& message);
// Frees the body of a message that was not posted, if it lies in the space heap.
void free_body(task::TaskRecord& record, const ActiveMessage& message);

class Parked {
 public:
  static constexpr size_t kMax = 1024;
  static constexpr uint64_t kBytesMax = 4 << 20;
  static constexpr uint64_t kRetryNs = 1'000'000;  // nobody rings when a mailbox has room again

  Parked(Board& board, task::TaskRecord& record, mailbox::Owner self)
      : board_(board), record_(record), self_(self) {}

  bool is_empty() const { return messages_.empty() && commands_.empty(); }
  bool has_messages_to(uint32_t task) const {
    return !receivers_.empty() && receivers_[task].messages != 0;
  }
  bool has_commands() const { return !commands_.empty(); }

  // Parks a message or a command. May throw std::bad_alloc; then nothing has changed.
  void add(uint32_t task, const ActiveMessage& message, const nagaya_completion& on_complete);
  template <class Fill>
  void add_command(Fill fill) {
    fill(commands_.emplace_back());
    tell_load();
  }

  // Makes the parked requests for which there is room now. push(command) puts a command into the
  // lane and returns whether it had room.
  template <class Push>
  void retry(Push push) {
    while (!commands_.empty() && push(commands_.front())) commands_.pop_front();
    retry_messages();
  }

 private:
  struct Message {
    uint32_t task;
    mailbox::Owner receiver;  // tells it from a later task of the same number
    ActiveMessage message;
    nagaya_completion on_complete;
    int error;
  };
  struct Receiver {
    uint32_t messages;       // number of messages parked for it
    uint32_t full_in_retry;  // `retries_` of the last retry that has found its mailbox full
  };

  void retry_messages();
  bool is_done(Message& parked);  // posts it; true: it was posted, or its receiver has ended
  void tell_load();

  Board& board_;
  task::TaskRecord& record_;
  mailbox::Owner self_;
  std::list<Message> messages_;
  std::deque<Command> commands_;
  std::vector<Receiver> receivers_;  // by task number; empty until the first message
  uint32_t retries_ = 0;
  uint64_t bytes_ = 0;  // of parked bodies
  bool is_overloaded_ = false;
};

}  // namespace nagaya::llcl
