// SPDX-License-Identifier: BSD-3-Clause
// endpoint.h - what a task needs to take part: its board, its name there, a lane for each of its
// threads that makes requests to other nodes, and one thread that calls back.
//
// A forked child of a task has no endpoint: it lives in a copy of the space.
#pragma once

#include <array>
#include <mutex>

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

  bool is_here(nagaya_process process) const {
    return process.node == board_->node.load(std::memory_order_relaxed);
  }

  // For the delegatee. Returns 0, -EAGAIN (the thread's lane is full), -ENOBUFS (no lane is left),
  // -EINVAL (no such node), or, with a callback, -ENOMEM.
  int submit(Command command, const nagaya_completion& on_complete);

  // Returns 0, -EEXIST, -EINVAL.
  int handle(uint32_t number, nagaya_handler* function, void* context);
  // To a task of this node. Returns 0, -EAGAIN, -EINVAL (no such task), -ENOMEM.
  int send(uint32_t task, uint32_t handler, const void* data, size_t bytes);

  // Looks until ready() or the time is up (-1: for ever), sleeping in between; the last ready().
  template <class Ready>
  bool wait(Ready ready, int timeout_ms) {
    const uint64_t deadline_ns =
        timeout_ms < 0 ? mailbox::kNever
                       : mailbox::Machine::now_ns() + static_cast<uint64_t>(timeout_ms) * 1'000'000;
    mailbox::Doorbell none{}, *const bell = own_bell();
    return mailbox::Waiting(bell != nullptr ? *bell : none, board_->load)
        .until(ready, deadline_ns, Napping{});
  }

 private:
  struct Handler {
    std::atomic<nagaya_handler*> function;  // release after `context`, acquire before it
    void* context;
  };

  // What is waited for may be stored by anybody, who does not know this thread's bell: look again
  // now and then.
  struct Napping {
    uint64_t before_sleep() { return 500'000; }  // [ns]
    void after_sleep() {}
  };

  explicit Endpoint(task::TaskRecord& record);
  mailbox::Doorbell* own_bell();  // rung for the calling thread; nullptr: no lane is left
  void start_completer();
  void complete_forever();
  void dispatch(const mailbox::Message& message);
  void call_handler(const ActiveMessage& message);
  mailbox::Mailbox& mailbox() const { return board_->mailboxes[record_->number]; }

  task::TaskRecord* record_;
  Board* board_;
  mailbox::Owner owner_;
  std::once_flag completer_started_;
  std::mutex handlers_lock_;  // among threads that name handlers
  std::array<Handler, 256> handlers_{};
};

// Requester's side of command.h's Completion, for what was done at once.
void complete(const nagaya_completion& on_complete, int error);

}  // namespace nagaya::llcl
