// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/requests/endpoint.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "base/catch_errors.h"
#include "llcl/board/message.h"
#include "llcl/requests/refusal.h"
#include "processes/table_index.h"
#include "task/space/own_record.h"
#include "task/space/space_heap.h"

namespace nagaya::llcl {
namespace {

constexpr int kParked = 1;

// A callback whose completion message the delegatee will post. It exists from submit() until it has
// been called.
struct Request {
  void (*function)(void* data, int error);
  void* data;
};

Board* board_of(const task::TaskRecord& record) {
  auto* const board = static_cast<Board*>(record.space->upper_floors);
  const bool usable = board != nullptr && board->stamp.matches(sizeof(Board)) &&
                      board->lanes->matches() && board->tables->matches();
  return usable ? board : nullptr;
}

}  // namespace

Endpoint* Endpoint::own() {
  task::TaskRecord* const record = task::own_record();
  if (record == nullptr) return nullptr;
  // Never destroyed: other threads of the program may still use it while the process exits.
  static Endpoint* const endpoint = board_of(*record) != nullptr ? new Endpoint(*record) : nullptr;
  return endpoint;
}

Endpoint::Endpoint(task::TaskRecord& record)
    : record_(&record),
      board_(board_of(record)),
      owner_(
          mailbox::Owner::task(record.number, record.generation.load(std::memory_order_relaxed))),
      waits_(*board_, owner_),
      parked_(*board_, record, owner_) {
  const auto leave = [](void* self) {
    // A forked child has a copy of its parent's lane, which is not its own.
    if (task::own_record() == nullptr) return;
    static_cast<Endpoint*>(self)->leave_lane(std::exchange(lane_of_thread_, Lanes::kNoLane));
  };
  // If the program has no key left, its threads' lanes are freed when the task ends.
  static_cast<void>(::pthread_key_create(&at_thread_end_, leave));
  record.communicates.store(1, std::memory_order_relaxed);
  // Release: pairs with the acquire in reclaim().
  board_->attached[record.number].store(owner_.bits, std::memory_order_release);
}

bool Endpoint::is_member(std::span<const nagaya_process> processes, uint32_t rank) const {
  return processes[rank].task == owner_.number() &&
         std::ranges::none_of(processes, [&](const nagaya_process& one) {
           return one.node == processes[rank].node && one.task >= board_->capacity;
         });
}

uint32_t Endpoint::claim_first_lane() {
  // Before the claim: reclaim() subtracts 1 for each thread's lane, whenever the task dies.
  board_->load.runnable.fetch_add(1, std::memory_order_relaxed);
  lane_of_thread_ = claim_lane();
  if (lane_of_thread_ == Lanes::kNoLane)
    board_->load.runnable.fetch_sub(1, std::memory_order_relaxed);
  else
    ::pthread_setspecific(at_thread_end_, this);
  return lane_of_thread_;
}

uint32_t Endpoint::claim_lane() {
  for (uint32_t lane = 0; lane < board_->lanes->capacity(); ++lane) {
    uint32_t use = LaneWaiter::kLeft;
    // Acquire: pairs with leave_lane; the lane's positions are this thread's now.
    if (board_->lanes->owner(lane) == owner_ &&
        board_->lane_waiters[lane].lane_use.compare_exchange_strong(
            use, LaneWaiter::kOneThread, std::memory_order_acquire, std::memory_order_relaxed))
      return lane;
  }
  return board_->lanes->claim(owner_);
}

uint32_t Endpoint::claim_common_lane() {
  const uint32_t lane = board_->lanes->claim(owner_);
  if (lane != Lanes::kNoLane)
    board_->lane_waiters[lane].lane_use.store(LaneWaiter::kCommon, std::memory_order_relaxed);
  return lane;
}

void Endpoint::leave_lane(uint32_t lane) {
  become(board_->load, board_->lane_waiters[lane], LaneWaiter::kNo);  // it may have polled in vain
  if (board_->lanes->lag(lane) == 0)
    board_->lanes->release(lane);
  else  // release: pairs with claim_lane
    board_->lane_waiters[lane].lane_use.store(LaneWaiter::kLeft, std::memory_order_release);
  board_->load.runnable.fetch_sub(1, std::memory_order_relaxed);  // last; see claim_first_lane
}

uint64_t Endpoint::new_callback(const nagaya_completion& on_complete) {
  auto* const request = new (std::nothrow) Request{on_complete.function, on_complete.data};
  if (request != nullptr && start_completer()) return reinterpret_cast<uint64_t>(request);
  delete request;
  return 0;
}

void Endpoint::drop_callback(uint64_t callback) {
  delete reinterpret_cast<Request*>(callback);
}

Endpoint::Fence* Endpoint::take_fence() {
  const std::lock_guard lock(lock_);
  for (Fence** link = &fences_; *link != nullptr; link = &(*link)->next) {
    Fence* const fence = *link;
    // Relaxed: nothing is read on its strength.
    if (fence->done.load(std::memory_order_relaxed) == 0) continue;
    *link = fence->next;
    fence->done.store(0, std::memory_order_relaxed);
    return fence;
  }
  return new (std::nothrow) Fence{};
}

void Endpoint::give_back(Fence* fence) {
  const std::lock_guard lock(lock_);
  fence->next = fences_;
  fences_ = fence;
}

int Endpoint::await(Fence& fence, uint32_t node, uint64_t deadline_ns) {
  int error = -EAGAIN;
  const auto is_answered = [&] {
    error = ask_fence(node, {NAGAYA_FLAG, nullptr, &fence.done});
    return error != -EAGAIN;
  };
  if (const int ended = wait_until(Purpose::kRequest, is_answered, deadline_ns); ended != 0)
    error = ended;
  if (error != 0) {
    fence.done.store(1, std::memory_order_relaxed);  // the delegatee did not get the fence
    return error;
  }
  uint32_t done = 0;
  const auto is_done = [&] {  // acquire: pairs with the delegatee's release
    done = fence.done.load(std::memory_order_acquire);
    return done != 0;
  };
  const int ended = wait_until(Purpose::kRequest, is_done, deadline_ns);
  return ended != 0 ? ended : error_of(done);
}

int Endpoint::flush(uint32_t node, int timeout_ms) {
  const uint64_t deadline_ns = deadline_of(timeout_ms);
  Fence* const fence = take_fence();
  if (fence == nullptr) return -ENOMEM;
  const int error = await(*fence, node, deadline_ns);
  give_back(fence);
  return error;
}

int Endpoint::handle(uint32_t number, nagaya_handler* function, void* context) {
  if (number >= handlers_.size() || function == nullptr)
    return refuse(-EINVAL, "handlers have a function, and numbers from 0 to %zu, not %u",
                  handlers_.size() - 1, number);
  if (!start_completer()) return -ENOMEM;
  const std::lock_guard lock(lock_);
  Handler& handler = handlers_[number];
  if (handler.function.load(std::memory_order_relaxed) != nullptr)
    return refuse(-EEXIST, "handler %u has a function already", number);
  handler.context = context;
  handler.function.store(function, std::memory_order_release);  // pairs with call_handler
  return 0;
}

int Endpoint::send(uint32_t task, uint32_t handler, const void* data, size_t bytes,
                   const nagaya_completion& on_complete) {
  // Acquire: pairs with the constructor; a task that never took part has no handlers.
  if (task >= board_->capacity || board_->attached[task].load(std::memory_order_acquire) == 0)
    return refuse(-EINVAL,
                  "task %u of this node does not exist, or has called no function "
                  "of llcl.h",
                  task);
  const uint32_t state = handler_state_of(*board_, task);
  if (state == TaskWaiter::kNoHandlers) return complete(on_complete, -ENOENT), 0;
  if (state == TaskWaiter::kOverloaded && !is_completer_) return -EAGAIN;
  ActiveMessage message{};
  message.handler = handler;
  message.source_node = board_->node.load(std::memory_order_relaxed);
  message.source_task = record_->number;
  message.sender = owner_.bits;
  message.bytes = bytes;
  std::byte* block = nullptr;
  if (bytes > kInlineBodyMaxBytes) {
    block = static_cast<std::byte*>(task::heap_allocate(*record_, bytes));
    if (block == nullptr) return -ENOMEM;
    std::memcpy(block, data, bytes);
    message.longer = {block, nullptr};
  } else if (bytes > 0) {
    std::memcpy(message.body, data, bytes);
  }
  const bool has_earlier = may_have_parked() && is_completer_ && parked_.has_messages_to(task);
  int error = has_earlier ? -EAGAIN : post_message(*board_, owner_, task, message);
  if (error == -EAGAIN && is_completer_) error = park(task, message, on_complete);
  if (error == kParked) return 0;
  if (error != 0)
    free_body(*record_, message);
  else
    complete(on_complete, 0);
  return error;
}

// Returns kParked, -ENOMEM.
int Endpoint::park(uint32_t task, const ActiveMessage& message,
                   const nagaya_completion& on_complete) {
  const int error = base::catch_errors([&] {
    parked_.add(task, message, on_complete);
    return kParked;
  });
  has_parked_.store(!parked_.is_empty(), std::memory_order_relaxed);
  return error;
}

void Endpoint::retry_parked() {
  if (!may_have_parked()) return;
  parked_.retry([&](const Command& parked) {
    const bool is_pushed = push(lane_of_thread_, [&](Command& command) { command = parked; });
    if (is_pushed) board_->bell_of(lane_of_thread_).ring_after_fence();
    return is_pushed;
  });
  has_parked_.store(!parked_.is_empty(), std::memory_order_relaxed);
}

// Starts the completer with every signal blocked, so that the program's signal handlers run in its
// own threads. False: the thread cannot be started just now.
bool Endpoint::start_completer() {
  if (has_completer_.load(std::memory_order_relaxed)) return true;  // no data depend on it
  const std::lock_guard lock(lock_);
  if (has_completer_.load(std::memory_order_relaxed)) return true;
  sigset_t all, old;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &old);
  pthread_t thread;
  const auto run = [](void* self) -> void* {
    static_cast<Endpoint*>(self)->complete_forever();
    return nullptr;
  };
  const bool started = ::pthread_create(&thread, nullptr, run, this) == 0;
  if (started) ::pthread_detach(thread);
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  has_completer_.store(started, std::memory_order_relaxed);
  board_->task_waiters[record_->number].handler_state.store(started, std::memory_order_release);
  return started;
}

void Endpoint::complete_forever() {
  ::pthread_setname_np(::pthread_self(), "nagaya-complete");
  mailbox::Mailbox& box = mailbox();
  mailbox::Waiting waiting(box.bell(), board_->load);
  is_completer_ = true;
  for (;;) {
    mailbox::Message message;
    const auto has_come = [&] {
      retry_parked();
      return static_cast<bool>(message = box.take());
    };
    if (waiting.until(has_come, parked_nap_ends_ns(), box)) dispatch(message);
  }
}

void Endpoint::dispatch(const mailbox::Message& message) {
  if (static_cast<MessageKind>(message.kind) == MessageKind::kActive) {
    ActiveMessage active;
    std::memcpy(&active, message.payload, sizeof active);
    return call_handler(active);
  }
  CompletionMessage done;
  std::memcpy(&done, message.payload, sizeof done);
  auto* const request = reinterpret_cast<Request*>(done.request);
  const Request copy = *request;
  delete request;
  copy.function(copy.data, done.error);
}

void Endpoint::call_handler(const ActiveMessage& message) {
  const std::byte* const body =
      message.bytes > kInlineBodyMaxBytes ? message.longer.address : message.body;
  nagaya_handler* function = nullptr;
  if (message.handler < handlers_.size())  // acquire: pairs with handle
    function = handlers_[message.handler].function.load(std::memory_order_acquire);
  if (function != nullptr)
    function(handlers_[message.handler].context, {message.source_node, message.source_task}, body,
             message.bytes);
  else
    drop_unhandled(message);
  if (message.bytes <= kInlineBodyMaxBytes) return;
  if (message.longer.done != nullptr)
    message.longer.done->store(1, std::memory_order_release);  // pairs with BoardNode::free_bodies
  else
    task::heap_free(*record_, const_cast<std::byte*>(body));
}

// Counts a message for a handler that was never named, and prints one line for each handler number.
// Another node may have sent any number.
void Endpoint::drop_unhandled(const ActiveMessage& message) {
  board_->dropped.fetch_add(1, std::memory_order_relaxed);
  if (message.handler >= told_unhandled_.size() || told_unhandled_[message.handler]) return;
  told_unhandled_.set(message.handler);
  ::dprintf(STDERR_FILENO,
            "nagaya: task %u of node %u has sent a message to handler %u, which task %u has not "
            "named: it is dropped. Call nagaya_llcl_handle() before a barrier, and send after it\n",
            message.source_task, message.source_node, message.handler, record_->number);
}

}  // namespace nagaya::llcl
